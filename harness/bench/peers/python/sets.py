"""The arrays of distance: two sets of items in rows, and the matrix points x queries."""

METRICS = {"euclidean", "manhattan"}


def supports(problem):
    if problem["metric"] not in METRICS:
        return "euclidean and manhattan alone"
    if problem["missing"] != "none":
        return "no missing values"
    return "" if min(problem["queries"], problem["points"], problem["dims"]) else "it needs items"


def views(problem, arrays, view):
    """Rows as the harness has them beside columns, or views of the columns."""
    queries, points, dims = problem["queries"], problem["points"], problem["dims"]

    def rows(items, columns, count):
        return view(items, [count, dims], "f4") if items else view(columns, [dims, count], "f4").T
    return (rows(arrays[3], arrays[0], queries), rows(arrays[4], arrays[1], points),
            view(arrays[2], [points, queries], "f4"))
