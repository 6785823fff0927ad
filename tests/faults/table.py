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
OUTCOMES = {  # what survives
    1: "`crashed`, with the signal or error named; the next case is right",
    2: "killed within the timeout and 2 s more: `timeout`",
    3: "`unsupported` where it is known beforehand, else `out_of_memory`",
    4: "nothing lost, nothing twice, no orphaned process",
    5: "every complete record loads, the rest is reported",
    6: "every one noticed, at most two records lost",
    7: "exit code 4 with the reason; the journal is whole",
    8: "each file is the old one or the new one",
    9: "no record lost",
    10: "kept apart, or refused",
    11: "reported as missing; `train` refuses without `--allow-partial`",
    12: "`wrong`, and in no selector",
    13: "every variant gives what the oracle gives",
    14: "right, or `unsupported` with the reason",
    15: "right up to the limit, `unsupported` with the reason beyond",
    16: "`verify`, `merge` and `train` reject it as implausible",
    17: "the selector compiles from the same code; pages, tables and terminals stay inert",
    18: "exit code 4 in bounded memory; no report of a sanitizer",
    19: "the sweep goes on, the reason in the record; exit code 3 where a GPU was asked for",
    20: "flagged; disturbed rounds are repeated whole, so that ratios stay paired",
    21: "at most 5% of cases called different; no choice that both sweeps find slower by more than 10%",
    22: "its shards resume",
    23: "the most similar device's tree that has something to run, and `explain` says so",
    24: "an error that names the line, or the right answer, in bounded memory",
    25: "it waits and says so; `train` refuses and names the cause, or its choices cost at most 1.10 of the idle ones",
    26: "exit code 2, nothing is written",
    27: "exit code 4 with the reason; 141 in silence for the pipe",
    28: "each file is the old one or the new one, none is left over; exit code 128 + the signal",
    29: "refused in 2 s and 512 MiB, the option that lifts the limit named; no report of AddressSanitizer",
    30: "shown as escapes on terminals and in tables; nothing is cut",
    31: "the neighbours, predictions and labels of double precision",
    32: "an error value before any launch",
    33: "`compare` calls at most 5% of pairs and 1% of cases different; finds the slower variant in 95%",
    34: "an `out_of_memory` value, or the right result; nothing is thrown or kept, the next call works",
    35: "right results, no hang; the choice of the process's CPUs",
    36: "refused in 2 s more than sound files take and 512 MiB; links stay links, and no file of others changes",
    37: "inert on both outputs; nothing of them is executed",
    38: "equal bits",
}
ROWS = dict(sorted((variants.ROWS | sweeps.ROWS | journals.ROWS | library.ROWS | cluster.ROWS | repetition.ROWS |
                    outputs.ROWS | inputs.ROWS | precision.ROWS | comparison.ROWS | hostile.ROWS).items()))
MOST = "cpu-graniterapids-avx512vnni-2t"  # what the table's rows are of that name no device
GPU_ROWS = (1, 2, 3, 12, 13, 15, 21, 32)


def count(entry: dict) -> str:
    """How many of a device's were survived, and all else that went wrong."""
    device = "" if entry["device"] == MOST else " " + entry["device"].removeprefix("cpu-")
    if entry["status"] == "not_run":
        return f"{device.strip()} not run: {entry['reason']}"
    text = f"{entry['injected']:,}"
    if entry["survived"] != entry["injected"]:
        text = f"{entry['survived']:,} of {text}"
    text += "".join(f", {entry[name]:,} {name.replace('_', ' ')}" for name in ("records_lost", "wrong_choices") if entry[name])
    return f"{text}{device}"


def markdown(entries: list[dict]) -> str:
    """The faults as docs/faults.md shows them: one line a row, with the counts of every device."""
    lines = ["| # | fault: outcome | injected, and all survived unless it says otherwise |", "|---:|---|---|"]
    for row, fault in FAULTS.items():
        counts = "; ".join(count(entry) for entry in entries if entry["id"] == row)
        lines.append(f"| {row} | **{fault}**: {OUTCOMES[row]} | {counts} |")
    return "\n".join(lines) + "\n"
