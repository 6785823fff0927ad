"""Rows 1, 2, 3 and 12: variants that crash, hang, exhaust memory or compute the wrong thing."""

import json

from injection import Machine, NotRun, Outcome, only, records, run

# Variant, expected status, and what its reason must name.
CPU = {
    1: {"segfaults": ("crashed", "SIGSEGV"), "aborts": ("crashed", "SIGABRT"), "exits": ("crashed", "exit status 0"),
        "crashes_when_timed": ("crashed", "SIGSEGV"), "throws": ("crashed", "told")},
    2: {"never_ends": ("timeout", "no progress"), "never_ends_talking": ("timeout", "no progress")},
    3: {"greedy": ("unsupported", "1125899906842624"), "wants_too_much": ("out_of_memory", "memory"),
        "is_killed": ("out_of_memory", "SIGKILL")},
    12: {name: ("wrong", "") for name in ("one_element", "only_the_tail", "one_input", "sometimes", "only_once",
                                          "past_the_end", "before_the_start", "returns_early")},
}
GPU = {
    1: {"gpu_illegal_access": ("crashed", "illegal"), "gpu_traps": ("crashed", ""),
        "gpu_impossible_launch": ("crashed", "invalid")},
    2: {"gpu_never_ends": ("timeout", "no progress")},
    3: {"gpu_greedy": ("unsupported", "1125899906842624"), "gpu_wants_too_much": ("out_of_memory", "memory")},
    12: {"gpu_" + name: ("wrong", "") for name in ("one_element", "only_the_tail", "one_input", "sometimes", "only_once",
                                                    "past_the_end", "before_the_start", "returns_early")},
}
TIMEOUT = 2


def inject(machine: Machine, row: int) -> Outcome:
    outcome = Outcome()
    gpu = machine.device != "cpu"
    faults = (GPU if gpu else CPU)[row]
    right = ("gpu_right", "gpu_right_baseline") if gpu else ("right", "right_baseline")
    problems = machine.times(4, 1)
    with machine.folder() as folder:
        seeds = ",".join(map(str, range(problems)))
        done = machine.sweep(folder, "--variant", ",".join((*faults, *right)), "-p", "size=1000", "-p", f"seed={seeds}",
                             "--timeout", f"{TIMEOUT}s", timeout=600)
        if done.code not in (0, 1):
            raise NotRun(str(done)) if done.code == 3 else AssertionError(str(done))
        cases = records(only(folder / "journal", "*.jsonl"))
        rights = [case for case in cases if case["variant"] in right]
        # `right` has two configurations: three right cases go with every problem.
        outcome.records_lost += 3 * problems - sum(case["status"] == "ok" for case in rights)
        for variant, (status, reason) in faults.items():
            own = [case for case in cases if case["variant"] == variant]
            outcome.records_lost += problems - len(own)
            for case in own:
                outcome.count(done.code == 1 and case["status"] == status and reason in case["reason"],
                              f"{variant}: {case['status']}: {case['reason']}, not {status} with {reason!r}; {done}")
        outcome.wrong_choices += chosen(machine, folder, set(faults))
    return outcome


def chosen(machine: Machine, folder, faults: set[str]) -> int:
    """How many of the faulty variants a selector trained on all this would run."""
    trained = run([machine.faulty, "train", "--results", folder / "results", "--output", folder / "selectors"])
    if trained.code != 0:
        raise AssertionError(f"training on what is left failed: {trained}")
    tree = json.loads(only(folder / "selectors", "faulty/*.tree").read_text())
    named = {choice["variant"] for node in tree["nodes"] for choice in node.get("ranking", [])}
    return len(named & faults)


def row_2(machine: Machine) -> Outcome:
    """A variant never ends: killed within the timeout and 2 s more."""
    outcome = inject(machine, 2)
    gpu = machine.device != "cpu"
    name = "gpu_never_ends" if gpu else "never_ends"
    for seed in range(100, 100 + machine.times(5, 1)):
        with machine.folder() as folder:
            done = machine.sweep(folder, "--variant", name, "-p", "size=10", "-p", f"seed={seed}", "--no-merge",
                                 "--timeout", f"{TIMEOUT}s", "--json")
            seconds = json.loads(done.out)[0]["lost_seconds"] if done.out else 0
            journal = only(folder / "journal", "*.jsonl")
            outcome.count(TIMEOUT <= seconds < TIMEOUT + 2 and records(journal)[0]["status"] == "timeout",
                          f"killed after {seconds:.1f} s, not within {TIMEOUT} s and 2 s more; {done}")
    return outcome


ROWS = {1: lambda machine: inject(machine, 1), 2: row_2, 3: lambda machine: inject(machine, 3),
        12: lambda machine: inject(machine, 12)}
