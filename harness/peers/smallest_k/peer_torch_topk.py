"""torch.topk of rows, sorted."""

from arrays import tensor

MODULES = ["torch", "numpy"]
ARRAYS = 3


def supports(problem):
    if problem["layout"] != "row_major":
        return "row-major matrices alone"
    return "" if 0 < problem["k"] <= problem["columns"] and problem["rows"] else "it needs k columns"


def prepare(problem, arrays):
    import torch
    k = problem["k"]
    matrix = tensor(arrays[0], [problem["rows"], problem["columns"]], "f4")
    values, indices = tensor(arrays[1], [problem["rows"], k], "f4"), tensor(arrays[2], [problem["rows"], k], "i4")

    def run():
        found = torch.topk(matrix, k, largest=False)
        values.copy_(found.values)
        indices.copy_(found.indices)
    return run
