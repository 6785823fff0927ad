"""torch.bincount over bytes."""

from arrays import tensor

MODULES = ["torch", "numpy"]
ARRAYS = 2


def prepare(problem, arrays):
    import torch
    values, counts = tensor(arrays[0], [problem["bytes"]], "u1"), tensor(arrays[1], [256], "i8")

    def run():
        counts.copy_(torch.bincount(values, minlength=256))
    return run
