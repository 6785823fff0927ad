"""cupy.bincount over bytes."""

from arrays import cupy_array

MODULES = ["cupy", "numpy"]
ARRAYS = 2


def prepare(problem, arrays):
    import cupy
    values, counts = cupy_array(arrays[0], [problem["bytes"]], "u1"), cupy_array(arrays[1], [256], "u8")

    def run():
        counts[:] = cupy.bincount(values, minlength=256)
    return run
