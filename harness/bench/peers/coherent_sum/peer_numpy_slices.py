"""NumPy: a slice of each trace added in place, receiver by receiver, source by source."""

from arrays import in_memory
from sums import supports, views

MODULES = ["numpy"]
ARRAYS = 5


def prepare(problem, arrays):
    import numpy
    traces, delays, keep = views(problem, arrays, in_memory)
    samples = problem["samples"]
    total = numpy.empty(samples, numpy.float32)

    def run():
        for source, shifts in enumerate(delays.tolist()):
            total[:] = 0
            for trace, shift in zip(traces, shifts):
                numpy.add(total, trace[shift:shift + samples], out=total)
            keep(source, total)
    return run
