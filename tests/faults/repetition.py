"""Rows 21 and 25: an A/A test of measuring and learning, on a quiet machine and on a busy one."""

import json
import math
import os
from pathlib import Path

from injection import Finished, Machine, NotRun, Outcome, busy_loops, only, records, run


def row_21(machine: Machine) -> Outcome:
    """One kernel registered twice, and whole sweeps of one program, are called different in at most 5% of cases; training
    again changes no leaf beyond noise."""
    outcome = Outcome()
    same_kernel_twice(machine, outcome)
    if machine.device == "cpu":  # learning is the same for all
        train_again(machine, outcome)
    return outcome


def same_kernel_twice(machine: Machine, outcome: Outcome) -> None:
    seeds = ",".join(map(str, range(machine.times(25, 5))))
    variant = "right" if machine.device == "cpu" else "gpu_right"
    with machine.folder() as folder:
        command = machine.sweep_arguments(folder, "--variant", variant, "-p", "size=1000,10000,100000,1000000", "-p",
                                          f"seed={seeds}")
        command[command.index("20%")] = "0.5%"
        swept = run([machine.faulty, *command], 600)
        told = run([machine.program("aa_comparison"), only(folder / "results", "*"), variant])
        if swept.code or told.code:
            raise AssertionError(f"{swept}; {told}")
        counts = json.loads(told.out)
    # Twenty cases are too few to tell 5% from 10%: the quick part allows what one of a thousand honest runs exceeds.
    allowed = machine.times(5, 4)
    pairs, different = counts["pairs"], counts["different"]
    outcome.count(pairs == machine.times(100, 20) and different <= allowed, f"called different: {counts}", max(pairs, 1))
    outcome.wrong_choices += max(0, different - allowed)
    print(f"      the same kernel twice: {different} of {pairs} called different; "
          f"{counts['intervals_without_1']} intervals without 1", flush=True)


def train_again(machine: Machine, outcome: Outcome) -> None:
    """Two sweeps of a real family on one device, two trees: where they choose differently, both are as fast. Nothing is
    asked of sweeps that `train` itself refuses, those of a machine that is busy."""
    with machine.folder() as folder:
        places = folder / "1", folder / "2"
        for place in places:
            swept = sweep_dot(machine, place, *dot_sizes(machine), "--seed", place.name)
            if swept.code:
                raise AssertionError(str(swept))
        compare_again(machine, outcome, *(only(place / "results", "*") for place in places))
        for place in places:
            trained = train_dot(machine, place, allow_disturbed=False)
            if refused_as_busy(trained):
                print(f"      training again: not judged: {trained.err.strip().splitlines()[-1]}", flush=True)
                return
            if trained.code:
                raise AssertionError(str(trained))
        first, second = sides = [Side(place) for place in places]
        for problem in sorted(first.times.keys() & second.times.keys()):
            chosen, again = first.choice(problem), second.choice(problem)
            # Sweeps that contradict each other saw the machine change; where they agree, one tree chose the slower.
            differences = [side.difference(problem, chosen, again) for side in sides]
            agreed = max(0.0, min(differences), -max(differences))
            outcome.wrong_choices += agreed > NOISE
            outcome.count(agreed <= NOISE, f"{problem}: {chosen} and then {again}, apart by {math.exp(agreed):.2f}x in both")


def compare_again(machine: Machine, outcome: Outcome, one: Path, other: Path) -> None:
    """What `compare` says of two whole sweeps of one program. On a busy machine it may decline to say anything."""
    told = run([machine.espalier, "compare", one, other, "--json"])
    if told.code == 4 and "nothing is left to compare" in told.err:
        print("      whole sweeps: every case was disturbed, none is judged", flush=True)
        return
    said = json.loads(told.out)
    different = said["slower"] + said["faster"]
    outcome.count(20 * different <= said["compared"], f"whole sweeps: {different} of {said['compared']} called different",
                  said["compared"])
    print(f"      whole sweeps: {different} of {said['compared']} cases called different", flush=True)


def sweep_dot(machine: Machine, place: Path, *more: str) -> Finished:
    return run([machine.espalier, "sweep", "--family", "dot", "--effort", machine.times("standard", "quick"), *more,
                "--counters", "off", "--max-time", machine.times("120s", "30s"), "--output", place / "journal",
                "--results", place / "results"], 400)


def dot_sizes(machine: Machine) -> tuple[str, str]:
    return "-p", "elements=" + ",".join(str(2**power) for power in range(10, 22, machine.times(1, 2)))


def train_dot(machine: Machine, place: Path, allow_disturbed: bool) -> Finished:
    return run([machine.espalier, "train", "--results", place / "results", "--output", place / "selectors",
                "--allow-partial"],  # a busy machine may not measure everything in time
               environment={"ESPALIER_ALLOW_DISTURBED": "true" if allow_disturbed else "false"})


def refused_as_busy(trained: Finished) -> bool:
    return trained.code == 4 and "--allow-disturbed" in trained.err


def row_25(machine: Machine) -> Outcome:
    """Trees of a sweep beside busy loops cost at most 1.10 of those of an idle one, or there are none."""
    outcome = Outcome()
    with machine.folder() as folder:
        quiet, busy = folder / "quiet", folder / "busy"
        sizes = dot_sizes(machine)
        swept, trained = sweep_dot(machine, quiet, *sizes), train_dot(machine, quiet, allow_disturbed=False)
        if refused_as_busy(trained):
            raise NotRun(f"the machine is busy as it is: {trained.err.strip().splitlines()[-1]}")
        if swept.code or trained.code:
            raise AssertionError(f"{swept}; {trained}")
        with busy_loops(len(os.sched_getaffinity(0))):
            swept = sweep_dot(machine, busy, *sizes, "--wait-for-quiet", "2s")
        trained = train_dot(machine, busy, allow_disturbed=False)
        outcome.count(swept.code == 0 and "waiting for quiet, for up to" in swept.err and
                      "still busy after waiting 2.0 s" in swept.err, f"it does not wait, or not say so: {swept}")
        refused = refused_as_busy(trained) and NAMED_CAUSE in trained.err
        if refused:
            train_dot(machine, busy, allow_disturbed=True)  # for the figure below
        elif trained.code:
            raise AssertionError(str(trained))
        cost = cost_of(Side(busy), Side(quiet))
        outcome.wrong_choices += not refused and cost > MOST_COST
        outcome.count(refused or cost <= MOST_COST, f"trained, and {cost:.2f} times as slow as the idle sweep's choices")
        print(f"      beside busy loops: {'refused' if refused else 'trained'}; such choices cost {cost:.3f} of the "
              "idle ones", flush=True)
    return outcome


NAMED_CAUSE = "were measured while other programs used"
MOST_COST = 1.10


def cost_of(tree: "Side", measured: "Side") -> float:
    """What the choices of one side's tree take by the other side's times, over what that side's own choices take."""
    logs = []
    for problem, times in measured.times.items():
        chosen = next(choice for choice in tree.ranking(measured.features[problem]) if choice in times)
        logs.append(math.log(times[chosen] / times[measured.choice(problem)]))
    return math.exp(sum(logs) / len(logs))


# The least difference between two choices, as a logarithm, that is no noise: sweeps of a shared machine differ by as
# much from one another.
NOISE = math.log(1.1)


class Side:
    """One sweep and the tree trained from it, read without the code under test."""

    def __init__(self, place: Path):
        results, tree = only(place / "results", "*"), only(place / "selectors", "dot/*.tree")
        self.nodes = {node["id"]: node for node in json.loads(tree.read_text())["nodes"]}
        self.times: dict[str, dict[tuple[str, str], float]] = {}
        self.features: dict[str, dict[str, float]] = {}
        for case in records(results / "dot.jsonl"):
            self.features[case["problem"]] = {feature["name"]: feature["value"] for feature in case["features"]}
            if case["status"] == "ok":
                own = self.times.setdefault(case["problem"], {})
                own[case["variant"], case["configuration"]] = case["time_ns"]

    def ranking(self, features: dict[str, float]) -> list[tuple[str, str]]:
        node = self.nodes[0]
        while "feature" in node:
            node = self.nodes[node["left" if features[node["feature"]] <= node["threshold"] else "right"]]
        return [(choice["variant"], choice["configuration"]) for choice in node["ranking"]]

    def choice(self, problem: str) -> tuple[str, str]:
        return next(choice for choice in self.ranking(self.features[problem]) if choice in self.times[problem])

    def difference(self, problem: str, one: tuple[str, str], other: tuple[str, str]) -> float:
        """The logarithm of the ratio of their times here."""
        times = self.times[problem]
        return math.log(times[one] / times[other]) if one in times and other in times else 0.0


ROWS = {21: row_21, 25: row_25}
