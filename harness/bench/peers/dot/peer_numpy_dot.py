"""numpy.dot of single-precision vectors: the BLAS that it came with."""

from arrays import in_memory

MODULES = ["numpy"]
ARRAYS = 3


def prepare(problem, arrays):
    import numpy
    a, b = (in_memory(address, [problem["elements"]], "f4") for address in arrays[:2])
    result = in_memory(arrays[2], [1], "f4")

    def run():
        result[0] = numpy.dot(a, b)
    return run
