"""jax.lax.top_k of the negated rows, compiled."""

import os

from arrays import tensor

MODULES = ["jax", "torch", "numpy"]
ARRAYS = 3
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the harness has memory of its own


def supports(problem):
    if problem["layout"] != "row_major":
        return "row-major matrices alone"
    return "" if 0 < problem["k"] <= problem["columns"] and problem["rows"] else "it needs k columns"


def prepare(problem, arrays):
    import jax
    import torch
    k = problem["k"]
    matrix = jax.dlpack.from_dlpack(tensor(arrays[0], [problem["rows"], problem["columns"]], "f4"))
    values, indices = tensor(arrays[1], [problem["rows"], k], "f4"), tensor(arrays[2], [problem["rows"], k], "i4")

    @jax.jit
    def smallest(rows):
        found, places = jax.lax.top_k(-rows, k)
        return -found, places

    def run():
        found, places = jax.block_until_ready(smallest(matrix))
        values.copy_(torch.from_dlpack(found))
        indices.copy_(torch.from_dlpack(places))
    return run
