"""NumPy: 25 shifted slices of the padded image, multiplied and added in 16 bits."""

from arrays import in_memory
from images import empty, views, whole_only

MODULES = ["numpy"]
ARRAYS = 3
MODES = {"zero": "constant", "replicate": "edge", "mirror": "reflect"}


def supports(problem):
    return empty(problem) or whole_only(problem)


def prepare(problem, arrays):
    import numpy
    image, result, weights = views(problem, arrays, in_memory)
    height, width = problem["height"], problem["width"]
    border = ((2, 2), (2, 2), (0, 0))

    def run():
        padded = numpy.pad(image, border, MODES[problem["border"]]).astype(numpy.int16)
        sums = numpy.zeros(image.shape, numpy.int16)
        for (dy, dx), weight in numpy.ndenumerate(weights.astype(numpy.int16)):
            sums += weight * padded[dy:dy + height, dx:dx + width]
        result[:] = sums.clip(0, 255)
    return run
