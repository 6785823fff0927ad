"""The arrays of coherent_sum: traces (receivers x trace samples), delays (sources x receivers), and what comes out."""


def views(problem, arrays, view):
    """`keep(source, total)` writes what the problem asks of one source's sums, an array of its own library's."""
    receivers, samples, sources = problem["receivers"], problem["samples"], problem["sources"]
    traces = view(arrays[0], [receivers, samples + problem["span"]], "f4")
    delays = view(arrays[1], [sources, receivers], "i4")
    if problem["output"] == "sums":
        sums = view(arrays[2], [sources, samples], "f4")

        def keep(source, total):
            sums[source] = total
    else:
        values, indices = view(arrays[3], [sources], "f4"), view(arrays[4], [sources], "i4")

        def keep(source, total):
            best = total.argmax()
            indices[source] = best
            values[source] = total[best]
    return traces, delays, keep


def supports(problem):
    return "" if min(problem["receivers"], problem["samples"], problem["sources"]) else "there is nothing to gather"
