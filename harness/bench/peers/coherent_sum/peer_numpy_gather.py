"""NumPy: samples gathered by an array of indices, then summed over receivers, source by source."""

from arrays import in_memory
from sums import supports, views

MODULES = ["numpy"]
ARRAYS = 5


def prepare(problem, arrays):
    import numpy
    traces, delays, keep = views(problem, arrays, in_memory)
    receivers, times = numpy.arange(problem["receivers"])[:, None], numpy.arange(problem["samples"])

    def run():
        for source, shifts in enumerate(delays):
            keep(source, traces[receivers, shifts[:, None] + times].sum(0))
    return run
