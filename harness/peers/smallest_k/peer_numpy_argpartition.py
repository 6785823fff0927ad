"""numpy.argpartition of rows, then a sort of the k smallest."""

from arrays import in_memory

MODULES = ["numpy"]
ARRAYS = 3


def supports(problem):
    if problem["layout"] != "row_major":
        return "row-major matrices alone"
    return "" if 0 < problem["k"] <= problem["columns"] and problem["rows"] else "it needs k columns"


def prepare(problem, arrays):
    import numpy
    k = problem["k"]
    matrix = in_memory(arrays[0], [problem["rows"], problem["columns"]], "f4")
    values, indices = in_memory(arrays[1], [problem["rows"], k], "f4"), in_memory(arrays[2], [problem["rows"], k], "i4")

    def run():
        nearest = numpy.argpartition(matrix, k - 1, axis=1)[:, :k]
        some = numpy.take_along_axis(matrix, nearest, axis=1)
        order = numpy.argsort(some, axis=1)
        values[:] = numpy.take_along_axis(some, order, axis=1)
        indices[:] = numpy.take_along_axis(nearest, order, axis=1)
    return run
