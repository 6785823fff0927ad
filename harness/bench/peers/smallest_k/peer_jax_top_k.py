"""jax.lax.top_k of the negated rows, compiled."""

import os

from arrays import tensor
from rows import supports, views

MODULES = ["jax", "torch", "numpy"]
ARRAYS = 3
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the harness has memory of its own


def prepare(problem, arrays):
    import jax
    import torch
    k = problem["k"]
    matrix, values, indices = views(problem, arrays, tensor)
    matrix = jax.dlpack.from_dlpack(matrix)

    @jax.jit
    def smallest(rows):
        found, places = jax.lax.top_k(-rows, k)
        return -found, places

    def run():
        found, places = jax.block_until_ready(smallest(matrix))
        values.copy_(torch.from_dlpack(found))
        indices.copy_(torch.from_dlpack(places))
    return run
