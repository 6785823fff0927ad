"""torch.cdist by the expanded form, |x|^2 - 2xy + |y|^2, of which cuBLAS multiplies the sets: squares cancel in it."""

from arrays import tensor
from sets import supports as supports_sets, views

MODULES = ["torch", "numpy"]
ARRAYS = 7


def supports(problem):
    return supports_sets(problem) or ("" if problem["metric"] == "euclidean" else "euclidean alone has a product in it")


def prepare(problem, arrays):
    import torch
    queries, points, result = views(problem, arrays, tensor)

    def run():
        result.copy_(torch.cdist(points, queries, 2.0, compute_mode="use_mm_for_euclid_dist"))
    return run
