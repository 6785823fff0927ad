"""One less a product of rows of length one, torch.nn.functional.normalize and torch.addmm, in single precision."""

from arrays import tensor
from sets import supports as supports_sets, views

MODULES = ["torch", "numpy"]
ARRAYS = 7


def supports(problem):
    if problem["metric"] != "cosine":
        return "cosine alone"
    return supports_sets({**problem, "metric": "euclidean"})


def prepare(problem, arrays):
    import torch
    from torch.nn.functional import normalize
    queries, points, result = views(problem, arrays, tensor)
    one = torch.ones((), dtype=torch.float32, device=result.device)

    def run():
        torch.addmm(one, normalize(points), normalize(queries).T, alpha=-1, out=result)
    return run
