"""numpy.bincount over bytes."""

from arrays import in_memory

MODULES = ["numpy"]
ARRAYS = 2


def prepare(problem, arrays):
    import numpy
    values, counts = in_memory(arrays[0], [problem["bytes"]], "u1"), in_memory(arrays[1], [256], "u8")

    def run():
        counts[:] = numpy.bincount(values, minlength=256)
    return run
