"""PyTorch: samples gathered by an array of indices, then summed over receivers, as many sources at a time as 1 GiB holds."""

from arrays import tensor
from sums import supports

MODULES = ["torch", "numpy"]
ARRAYS = 5


def prepare(problem, arrays):
    import torch
    receivers, samples, sources = problem["receivers"], problem["samples"], problem["sources"]
    width = samples + problem["span"]
    traces = tensor(arrays[0], [receivers * width], "f4")
    delays = tensor(arrays[1], [sources, receivers], "i4")
    sums = tensor(arrays[2], [sources, samples], "f4") if problem["output"] == "sums" else None
    values, indices = (None, None) if sums is not None else (tensor(arrays[3], [sources], "f4"),
                                                             tensor(arrays[4], [sources], "i4"))
    starts = torch.arange(receivers, device="cuda")[:, None] * width + torch.arange(samples, device="cuda")
    step = max(1, (1 << 30) // (12 * receivers * samples))  # an index of 8 bytes and a sample of 4

    def run():
        for first in range(0, sources, step):
            total = traces[starts + delays[first:first + step, :, None]].sum(1)
            if sums is not None:
                sums[first:first + step] = total
            else:
                best = total.max(1)
                values[first:first + step], indices[first:first + step] = best.values, best.indices
    return run
