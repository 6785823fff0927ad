"""numpy.argpartition of rows, then a sort of the k smallest."""

from arrays import in_memory
from rows import supports, views

MODULES = ["numpy"]
ARRAYS = 3


def prepare(problem, arrays):
    import numpy
    k = problem["k"]
    matrix, values, indices = views(problem, arrays, in_memory)

    def run():
        nearest = numpy.argpartition(matrix, k - 1, axis=1)[:, :k]
        some = numpy.take_along_axis(matrix, nearest, axis=1)
        order = numpy.argsort(some, axis=1)
        values[:] = numpy.take_along_axis(some, order, axis=1)
        indices[:] = numpy.take_along_axis(nearest, order, axis=1)
    return run
