"""cupy.dot of single-precision vectors."""

from arrays import cupy_array

MODULES = ["cupy", "numpy"]
ARRAYS = 3


def prepare(problem, arrays):
    import cupy
    a, b = (cupy_array(address, [problem["elements"]], "f4") for address in arrays[:2])
    result = cupy_array(arrays[2], [1], "f4")

    def run():
        result[0] = cupy.dot(a, b)
    return run
