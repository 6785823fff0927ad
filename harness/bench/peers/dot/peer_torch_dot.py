"""torch.dot of single-precision vectors."""

from arrays import tensor

MODULES = ["torch", "numpy"]
ARRAYS = 3


def prepare(problem, arrays):
    import torch
    a, b = (tensor(address, [problem["elements"]], "f4") for address in arrays[:2])
    result = tensor(arrays[2], [1], "f4")[0]
    return lambda: torch.dot(a, b, out=result)
