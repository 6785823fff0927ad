"""cupyx.scipy.ndimage.correlate of the image as three dimensions, in single precision."""

from arrays import cupy_array
from images import NDIMAGE_MODES, empty, exact_in_floats, views

MODULES = ["cupy", "cupyx", "numpy"]
ARRAYS = 3


def supports(problem):
    return empty(problem) or exact_in_floats(problem)


def prepare(problem, arrays):
    import cupy
    from cupyx.scipy import ndimage
    image, result, weights = views(problem, arrays, cupy_array)
    mode = NDIMAGE_MODES[problem["border"]]

    def run():
        sums = ndimage.correlate(image, cupy.asarray(weights)[:, :, None], cupy.float32, mode)
        result[:] = cupy.rint(sums).clip(0, 255)
    return run
