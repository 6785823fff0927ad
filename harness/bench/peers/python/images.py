"""The arrays of convolution_2d: image and result (height x width x channels), and the filter, which is on the host."""

from arrays import in_memory

NDIMAGE_MODES = {"zero": "constant", "replicate": "nearest", "mirror": "mirror"}  # SciPy's names of our borders


def views(problem, arrays, view):
    shape = [problem["height"], problem["width"], problem["channels"]]
    return view(arrays[0], shape, "u1"), view(arrays[1], shape, "u1"), in_memory(arrays[2], [5, 5], "f4")


def whole_only(problem):
    return "" if problem["coefficients"] == "narrow" else "its sums are whole numbers of 16 bits"


def exact_in_floats(problem):
    return "its sums are single precision" if problem["coefficients"] == "int16" else ""


def empty(problem):
    return "it refuses empty images" if 0 in (problem["width"], problem["height"]) else ""
