"""Row 33: whole sweeps of one program compared with each other, on a quiet machine and on a busy one."""

import itertools
import json
import os
from pathlib import Path

from injection import Machine, NotRun, Outcome, busy_loops, only, run

FAMILIES = "dot,histogram,coherent_sum"
SLOWED = "faulty/right"


def row_33(machine: Machine) -> Outcome:
    """Sweeps of one program differ in at most 5% of pairs and 1% of cases; 10% more time is found in 95% of pairs."""
    outcome = Outcome()
    with machine.folder() as folder:
        quiet = [whole_sweep(machine, folder / f"quiet-{number}", number) for number in range(machine.times(20, 4))]
        if all(counts(machine, [one], [other]) is None for one, other in itertools.pairwise(quiet)):
            raise NotRun("the machine is busy as it is: every case was disturbed; run it where nothing else runs")
        same_program(machine, outcome, "quiet", [((one,), (other,)) for one, other in itertools.combinations(quiet, 2)])
        slower_variant(machine, outcome, folder)
        with busy_loops(len(os.sched_getaffinity(0))):
            busy = [whole_sweep(machine, folder / f"busy-{number}", number) for number in range(machine.times(12, 4))]
        same_program(machine, outcome, "busy", [((one,), (other,)) for one, other in itertools.combinations(busy, 2)])
        half = min(3, len(busy) // 2)  # sessions a side; disturbed ones are judged by their repetitions
        drawn = [machine.random.sample(busy, 2 * half) for _ in range(20)]
        same_program(machine, outcome, f"busy, {half} a side", [(side[:half], side[half:]) for side in drawn],
                     "--allow-disturbed")
    return outcome


def whole_sweep(machine: Machine, place: Path, seed: int) -> Path:
    swept = run([machine.espalier, "sweep", "--device", "cpu", "--family", FAMILIES, "--effort", "quick", "--seconds",
                 "0.25", "--seed", str(seed + 1), "--counters", "off", "--no-ceilings", "--quiet", "--output",
                 place / "journal", "--results", place / "results"], 120)
    if swept.code:
        raise AssertionError(str(swept))
    return only(place / "results", "*")


def counts(machine: Machine, before: list[Path], after: list[Path], *more: str) -> dict | None:
    """What compare says; nothing if it says that all of it was disturbed."""
    told = run([machine.espalier, "compare", *before, "--", *after,
                "--json", *more])
    if told.code == 4 and "nothing is left to compare" in told.err:
        return None
    if told.code not in (0, 5):
        raise AssertionError(str(told))
    return json.loads(told.out)


def changed(said: list[dict]) -> list[str]:
    return [f"{one.get('variant') or one['case']} {one['ratio']:.3f}" for one in said if one["verdict"] != "same"]


def same_program(machine: Machine, outcome: Outcome, name: str, pairs: list, *more: str) -> None:
    different, cases, different_cases, examples = 0, 0, 0, []
    for before, after in pairs:
        said = counts(machine, list(before), list(after), *more)
        if said is None:
            continue
        changes = changed(said["variants"]) + changed(said["cases"])
        different += bool(changes)
        examples += changes[:1]
        cases += said["compared"]
        different_cases += len(changed(said["cases"]))
    # A row of few pairs: one of them alone may be more than 5%.
    allowed = max(len(pairs) // 20, machine.times(1, 2)), max(cases // 100, machine.times(0, 4))
    sound = different <= allowed[0] and different_cases <= allowed[1]
    outcome.count(sound, f"{name}: {different} of {len(pairs)} pairs and {different_cases} of {cases} cases called "
                         f"different: {examples[:5]}", len(pairs))
    print(f"      {name}: {different} of {len(pairs)} pairs and {different_cases} of {cases} cases called different",
          flush=True)


def slower_variant(machine: Machine, outcome: Outcome, folder: Path) -> None:
    times = machine.times(10, 3)
    before, after = ([slowed_sweep(machine, folder / f"faulty-{share}-{number}", share) for number in range(times)]
                     for share in (None, "0.1"))
    said = [counts(machine, [one], [other]) for one in before for other in after]
    found = [one for one in said if one and any(variant["variant"] == SLOWED and variant["verdict"] == "slower"
                                                for variant in one["variants"])]
    ratios = sorted(variant["ratio"] for one in said if one for variant in one["variants"]
                    if variant["variant"] == SLOWED)
    middle = f"{ratios[len(ratios) // 2]:.3f}" if ratios else "disturbed"
    outcome.count(len(found) >= 0.95 * len(said), f"a variant made 10% slower ({middle}) is found in {len(found)} of "
                                                  f"{len(said)} pairs", len(said))
    print(f"      made 10% slower, {middle} by the median: found in {len(found)} of {len(said)} pairs", flush=True)


def slowed_sweep(machine: Machine, place: Path, share: str | None) -> Path:
    arguments = machine.sweep_arguments(place, "--variant", "right,right_baseline,crawls,wrong_when_large", "-p",
                                        "size=50000,100000", "-p", "seed=0,1,2,3,4,5", "--seconds", "0.25", "--quiet")
    arguments[arguments.index("20%")] = "0.5%"
    swept = run([machine.faulty, *arguments], 120, {"ESPALIER_FAULTY_SLOWDOWN": share} if share else None)
    if swept.code:
        raise AssertionError(str(swept))
    return only(place / "results", "*")


ROWS = {33: row_33}
