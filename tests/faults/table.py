"""The fault table: what each row injects, and who does it."""

import cluster
import comparison
import hostile
import inputs
import journals
import library
import outputs
import precision
import repetition
import sweeps
import variants

FAULTS = {
    1: "a variant makes an illegal access, aborts, exits or throws",
    2: "a variant never ends",
    3: "device or host memory runs out",
    4: "kill -9 of the sweep at random moments, then --resume",
    5: "a journal truncated at every byte",
    6: "random bit flips in a journal",
    7: "the disk is full at a random byte",
    8: "kill -9 during merge, export and train",
    9: "many writers of one journal at once",
    10: "journals of different devices, drivers, builds or cache modes mixed",
    11: "a shard is missing",
    12: "a variant computes the wrong thing: an element, the tail, for some inputs, sometimes, beyond its output, too late",
    13: "NaN, infinities, denormals, ties, k = 0, k >= n, n = 0 and 1",
    14: "more than 2^31 elements or bytes",
    15: "limits of textures, grids and shared memory, one below, at and one above",
    16: "a time of 0, negative, not finite or above the roofline in a file of results",
    17: "hostile strings in a file of results",
    18: "bad JSON, and fuzzing of its reader",
    19: "counters refused, no GPU, no NVML",
    20: "a co-tenant's load in mid-run",
    21: "the same kernel registered twice; training again on fresh measurements",
    22: "a Slurm job preempted and requeued",
    23: "a device that no shipped tree knows",
    24: "bad and large CSV inputs of knn",
    25: "every processor busy through a whole sweep",
    26: "an output that names one of the inputs",
    27: "stdout on a full disk, on a pipe that nobody reads, or closed",
    28: "INT, TERM and HUP at random moments of every command that writes",
    29: "absurd sizes in small files, and mutated files of every kind",
    30: "escape sequences, NUL and marks of direction in names, labels and keys",
    31: "tables that floats cannot hold: Unix seconds, UTM metres, large labels, nearly parallel rows",
    32: "a plan run with other sizes, a bad workspace, pointers of the wrong side, after its device's reset",
    33: "whole sweeps of one program compared with each other; one variant made 10% slower",
    34: "each allocation of each public function fails in turn",
    35: "fork after a parallel call; pinned first call; one CPU; nested and dynamic OpenMP; a cgroup quota",
    36: "pipes, device links, looping links and bombs in the place of files that are read; links in that of those written",
    37: "control, C1 and bidirectional characters, and a shell's words, in names, paths and contents through every command",
    38: "100 equal calls that promise equal bits, at 1, 2, 3 and 8 threads, on data that cancels",
}
ROWS = dict(sorted((variants.ROWS | sweeps.ROWS | journals.ROWS | library.ROWS | cluster.ROWS | repetition.ROWS |
                    outputs.ROWS | inputs.ROWS | precision.ROWS | comparison.ROWS | hostile.ROWS).items()))
GPU_ROWS = (1, 2, 3, 12, 13, 15, 21, 32)


def markdown(entries: list[dict]) -> str:
    """The outcomes as docs/faults.md shows them: one line per row and device."""
    lines = ["| # | device | injected | survived | records lost | wrong choices | date |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for entry in entries:
        if entry["status"] == "not_run":
            lines.append(f"| {entry['id']} | {entry['device']} | not run: {entry['reason']} | | | | |")
        else:
            counts = [f"{entry[name]:,}" for name in ("injected", "survived", "records_lost", "wrong_choices")]
            lines.append(f"| {entry['id']} | {entry['device']} | {' | '.join(counts)} | {entry['date']} |")
    return "\n".join(lines) + "\n"
