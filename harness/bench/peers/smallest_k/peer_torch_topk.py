"""torch.topk of rows, sorted."""

from arrays import tensor
from rows import supports, views

MODULES = ["torch", "numpy"]
ARRAYS = 3


def prepare(problem, arrays):
    import torch
    k = problem["k"]
    matrix, values, indices = views(problem, arrays, tensor)

    def run():
        found = torch.topk(matrix, k, largest=False)
        values.copy_(found.values)
        indices.copy_(found.indices)
    return run
