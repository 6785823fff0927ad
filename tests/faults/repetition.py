"""Row 21: measuring and learning the same thing twice."""

import json
import math
from pathlib import Path

from injection import Machine, Outcome, only, records, run


def row_21(machine: Machine) -> Outcome:
    """One kernel registered twice is called different in at most 5% of cases; training again changes no leaf beyond noise."""
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
        told = run([machine.program("twins"), only(folder / "results", "*"), variant])
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
    """Two sweeps of a real family on one device, two trees: where they choose differently, both are as fast."""
    with machine.folder() as folder:
        sides = []
        for seed in ("1", "2"):
            place = folder / seed
            swept = run([machine.espalier, "sweep", "--family", "dot", "--effort", machine.times("standard", "quick"),
                         "--seed", seed, "--counters", "off", "--max-time", machine.times("120s", "10s"), "--output",
                         place / "journal", "--results", place / "results"], 400)
            trained = run([machine.espalier, "train", "--results", place / "results", "--output", place / "selectors"])
            if swept.code or trained.code:
                raise AssertionError(f"{swept}; {trained}")
            sides.append(Side(only(place / "results", "*")))
        first, second = sides
        for problem in sorted(first.times.keys() & second.times.keys()):
            chosen, again = first.choice(problem), second.choice(problem)
            # Sweeps that contradict each other saw the machine change; where they agree, one tree chose the slower.
            differences = [side.difference(problem, chosen, again) for side in sides]
            agreed = max(0.0, min(differences), -max(differences))
            outcome.wrong_choices += agreed > NOISE
            outcome.count(agreed <= NOISE, f"{problem}: {chosen} and then {again}, apart by {math.exp(agreed):.2f}x in both")


# The least difference between two choices, as a logarithm, that is no noise: sweeps of a shared machine differ by as
# much from one another.
NOISE = math.log(1.1)


class Side:
    """One sweep and the tree trained from it, read without the code under test."""

    def __init__(self, results: Path):
        self.nodes = {node["id"]: node for node in json.loads((results / "dot.tree.json").read_text())["nodes"]}
        self.times: dict[str, dict[tuple[str, str], float]] = {}
        self.features: dict[str, dict[str, float]] = {}
        for case in records(results / "dot.jsonl"):
            self.features[case["problem"]] = {feature["name"]: feature["value"] for feature in case["features"]}
            if case["status"] == "ok":
                own = self.times.setdefault(case["problem"], {})
                own[case["variant"], case["configuration"]] = case["time_ns"]

    def choice(self, problem: str) -> tuple[str, str]:
        node = self.nodes[0]
        while "feature" in node:
            node = self.nodes[node["left" if self.features[problem][node["feature"]] <= node["threshold"] else "right"]]
        measured = [(choice["variant"], choice["configuration"]) for choice in node["ranking"]]
        return next(choice for choice in measured if choice in self.times[problem])

    def difference(self, problem: str, one: tuple[str, str], other: tuple[str, str]) -> float:
        """The logarithm of the ratio of their times here."""
        times = self.times[problem]
        return math.log(times[one] / times[other]) if one in times and other in times else 0.0


ROWS = {21: row_21}
