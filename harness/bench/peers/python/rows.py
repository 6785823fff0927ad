"""The arrays of smallest_k where rows are rows: matrix (rows x columns), values and indices (rows x k)."""


def supports(problem):
    if problem["layout"] != "row_major":
        return "row-major matrices alone"
    return "" if 0 < problem["k"] <= problem["columns"] and problem["rows"] else "it needs k columns"


def views(problem, arrays, view):
    rows, k = problem["rows"], problem["k"]
    return (view(arrays[0], [rows, problem["columns"]], "f4"), view(arrays[1], [rows, k], "f4"),
            view(arrays[2], [rows, k], "i4"))
