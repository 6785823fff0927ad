"""beampower: the beam of every source over all of the traces, of which the window is taken."""

from arrays import in_memory
from sums import supports, views

MODULES = ["beampower", "numpy"]
ARRAYS = 5


def prepare(problem, arrays):
    import beampower
    import numpy
    traces, delays, keep = views(problem, arrays, in_memory)
    receivers, samples, sources = problem["receivers"], problem["samples"], problem["sources"]
    every_receiver = numpy.ones((receivers, 1, 1), numpy.float32)
    alike = numpy.ones((sources, receivers), numpy.float32)

    def run():
        beams = beampower.beamform(traces[:, None, :], delays[:, :, None], every_receiver, alike, reduce="none")
        for source, beam in enumerate(beams):
            keep(source, beam[:samples])
    return run
