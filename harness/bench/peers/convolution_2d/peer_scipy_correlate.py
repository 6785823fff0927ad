"""scipy.ndimage.correlate of each channel in single precision."""

from arrays import in_memory
from images import NDIMAGE_MODES, empty, exact_in_floats, views

MODULES = ["scipy", "numpy"]
ARRAYS = 3


def supports(problem):
    return empty(problem) or exact_in_floats(problem)


def prepare(problem, arrays):
    import numpy
    from scipy import ndimage
    image, result, weights = views(problem, arrays, in_memory)
    mode = NDIMAGE_MODES[problem["border"]]

    def run():
        for channel in range(problem["channels"]):
            sums = ndimage.correlate(image[:, :, channel], weights, numpy.float32, mode)
            numpy.rint(sums, out=sums)
            result[:, :, channel] = sums.clip(0, 255)
    return run
