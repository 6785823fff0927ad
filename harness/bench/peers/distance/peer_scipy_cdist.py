"""scipy.spatial.distance.cdist, in double precision."""

from arrays import in_memory
from sets import supports, views

MODULES = ["scipy", "numpy"]
ARRAYS = 7


def prepare(problem, arrays):
    from scipy.spatial import distance
    queries, points, result = views(problem, arrays, in_memory)
    metric = {"euclidean": "euclidean", "manhattan": "cityblock"}[problem["metric"]]

    def run():
        result[:] = distance.cdist(points, queries, metric)
    return run
