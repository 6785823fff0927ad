"""sklearn.metrics.pairwise: euclidean_distances, manhattan_distances."""

from arrays import in_memory
from sets import supports, views

MODULES = ["sklearn", "numpy"]
ARRAYS = 7


def prepare(problem, arrays):
    from sklearn.metrics import pairwise
    queries, points, result = views(problem, arrays, in_memory)
    function = {"euclidean": pairwise.euclidean_distances, "manhattan": pairwise.manhattan_distances}[problem["metric"]]

    def run():
        result[:] = function(points, queries)
    return run
