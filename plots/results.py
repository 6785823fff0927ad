"""Reads what a sweep and a training left under results/<device-key>/: its records as `espalier export` tables them.

Texts come from other machines and people: nothing acts in what is shown of them. A file that cannot be used becomes a
line of `Device.errors`, which the report shows.
"""

import csv
import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import regular_files
from regular_files import Unusable

import columns
import trees

STATUSES = ("ok", "unsupported", "wrong", "timeout", "crashed", "out_of_memory", "too_slow", "not_measured")
PROVENANCE = ("driver", "build", "cache", "session")
LARGEST_JSON = 16 << 20
LARGEST_CELL = 1 << 20
# As harness/bench/records/interval.hpp has them: of fewer samples there is no 95% interval of a median, and ends further from it
# than the factor make none.
LEAST_INTERVAL_SAMPLES = 6
WIDEST_INTERVAL = 2.0


# Control characters, and marks that turn the direction of writing or hide text; line ends and tabs do no harm.
ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
                    "\ud800-\udfff\U000e0000-\U000e007f]")


def inert(text: str) -> str:
    """`text` with a visible escape for each character that does something instead of showing something."""
    return ACTING.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def printable(text: str) -> str:
    """The same for a message of one line: line ends and tabs, which move the cursor, are blanks."""
    return re.sub("[\t\n\r]", " ", inert(text))


def inert_values(value):
    """The same of every text of a JSON value."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, list):
        return [inert_values(item) for item in value]
    if isinstance(value, dict):
        return {inert(key): inert_values(item) for key, item in value.items()}
    return value


@dataclass
class Case:
    variant: str
    role: str
    status: str
    reason: str
    problem: str
    configuration: str
    time: float = math.nan  # ns
    low: float = math.nan
    high: float = math.nan
    bytes: float = math.nan
    roofline: float = math.nan
    ops: float = math.nan
    transfer: float = math.nan  # ns between host and device, beside `time`
    samples: int = 0
    disturbed: str = ""  # by what, as columns.CAUSES has it; empty if by nothing, or if the file does not say
    counters: dict[str, float] = field(default_factory=dict)
    stages: str = ""  # the variants that ran as its stages, with blanks between them

    @property
    def too_few(self) -> bool:
        """Whether its samples are too few for an interval."""
        return self.samples < LEAST_INTERVAL_SAMPLES

    @property
    def has_interval(self) -> bool:
        return (not self.too_few and self.high <= WIDEST_INTERVAL * self.time
                and self.time <= WIDEST_INTERVAL * self.low)


@dataclass
class Choice:
    """What the library runs for a problem, as `espalier export` has it."""

    variant: str  # empty if it can run nothing
    configuration: str
    time: float  # ns; NaN if it was not measured
    regret: float  # NaN if it was not judged
    reason: str  # why not, or how it failed
    earlier_source: bool  # measured before the variant changed
    tree_device: str  # whose tree said so; empty without a tree
    leaf: int
    leaf_problems: int
    other_leaf: bool
    conditions: str


@dataclass
class Family:
    name: str
    cases: list[Case] = field(default_factory=list)
    features: dict[str, dict[str, float | str]] = field(default_factory=dict)  # by problem, then by name
    counters: list[str] = field(default_factory=list)
    provenance: Counter = field(default_factory=Counter)  # cases by driver, build, cache and session
    words: dict[str, dict[str, str]] = field(default_factory=dict)  # by problem, those of axes that its key leaves out
    left_out: dict[str, str] = field(default_factory=dict)  # what these mostly are: their axes' defaults
    derived: set[str] = field(default_factory=set)  # features that are no part of the problem's key
    tree: list[trees.Node] = field(default_factory=list)  # as trained for the device from these results
    choices: dict[str, Choice] = field(default_factory=dict)  # by problem

    def __post_init__(self):
        self._best = None
        self._apart = None

    def variants(self) -> list[str]:
        return sorted({case.variant for case in self.cases})

    def roles(self) -> dict[str, str]:
        return {case.variant: case.role for case in self.cases}

    def best(self) -> dict[str, dict[str, Case]]:
        """By problem and variant, the fastest configuration that was right; a disturbed one only where there is no other."""
        if self._best is None:
            self._best = defaultdict(dict)
            for case in self.cases:
                if case.status != "ok":
                    continue
                known = self._best[case.problem].get(case.variant)
                if known is None or (bool(case.disturbed), case.time) < (bool(known.disturbed), known.time):
                    self._best[case.problem][case.variant] = case
        return self._best

    def disturbed(self) -> dict[str, str]:
        """What disturbed each problem of which any timed case was disturbed."""
        return {case.problem: case.disturbed for case in self.cases if case.status == "ok" and case.disturbed}

    def fastest_disturbed(self, problem: str) -> Case | None:
        """What to show, marked, of a problem that nothing won because all that could was disturbed."""
        found = [case for case in self.best().get(problem, {}).values() if case.disturbed and case.variant not in self.apart()]
        return min(found, key=lambda case: case.time, default=None) if not self.ranked(problem) else None

    def measured(self) -> dict[str, dict[str, float | str]]:
        """The features of the problems that anything succeeded on."""
        return {problem: features for problem, features in self.features.items() if problem in self.best()}

    def complete(self, problem: str) -> dict[str, float | str]:
        """All features of a problem, those that its key leaves out too."""
        return self.left_out | self.words.get(problem, {}) | self.features[problem]

    def failed(self) -> set[str]:
        """The variants that were wrong or crashed anywhere: no selector chooses them."""
        return {case.variant for case in self.cases if case.status in ("wrong", "crashed")}

    def apart(self) -> set[str]:
        """What can never be chosen: peers, and variants that failed anywhere."""
        if self._apart is None:
            self._apart = self.failed() | {case.variant for case in self.cases if case.role == "peer"}
        return self._apart

    def ranked(self, problem: str) -> list[Case]:
        """The best of each variant that can be chosen, the fastest first. Disturbed ones win nothing and have no place."""
        cases = self.best().get(problem, {}).values()
        return sorted((case for case in cases if case.variant not in self.apart() and not case.disturbed),
                      key=lambda case: case.time)

    def peers_of(self, problem: str) -> list[Case]:
        """Each peer's best, the fastest first; without disturbed ones."""
        cases = self.best().get(problem, {}).values()
        return sorted((case for case in cases if case.role == "peer" and not case.disturbed), key=lambda case: case.time)

    def winner(self, problem: str) -> Case | None:
        return next(iter(self.ranked(problem)), None)

    def wins(self) -> Counter:
        """By variant, the problems that it is the fastest on. Where it is the only one that was timed it has beaten nobody,
        unless nothing in the family was ever compared."""
        ranked = [found for problem in self.features if (found := self.ranked(problem))]
        compared = [found for found in ranked if len(found) > 1] or ranked
        return Counter(found[0].variant for found in compared)

    def slowdowns(self) -> dict[str, list[float]]:
        """By variant, its time over the winner's on every problem that it can do. A peer's may be below 1."""
        result = defaultdict(list)
        for problem, variants in self.best().items():
            winner = self.winner(problem)
            for variant, case in variants.items():
                if winner is not None and not case.disturbed:
                    result[variant].append(case.time / winner.time)
        return result

    def outcomes(self) -> Counter:
        return Counter(case.status for case in self.cases)

    def failures(self) -> list[tuple[str, str, str, int, str]]:
        """(variant, status, reason, cases, an example) of everything that is not ok."""
        grouped = defaultdict(list)
        for case in self.cases:
            if case.status != "ok":
                grouped[case.variant, case.status, case.reason].append(f"{case.problem} {case.configuration}")
        order = {status: i for i, status in enumerate(("wrong", "crashed", "timeout", "out_of_memory"))}
        rows = [(*key, len(examples), examples[0]) for key, examples in grouped.items()]
        return sorted(rows, key=lambda row: (order.get(row[1], 9), row[0], -row[3]))


@dataclass
class Device:
    key: str
    info: dict = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    selector: dict = field(default_factory=dict)
    unseen: dict[str, Family] = field(default_factory=dict)  # problems that no tree was trained on
    peers: dict[str, Family] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.info.get("name") or self.key)

    @property
    def provenance(self) -> Counter:
        return sum((family.provenance for family in self.families.values()), Counter())

    def disturbance(self) -> str:
        """How many problems were disturbed, and mostly by what; empty if none was."""
        families = [*self.families.values(), *self.unseen.values()]
        causes = Counter(cause for family in families for cause in family.disturbed().values())
        if not causes:
            return ""
        problems, disturbed = sum(len(family.measured()) for family in families), causes.total()
        cause = causes.most_common(1)[0][0]
        return (f"{disturbed:,} of {problems:,} problem{'s' * (problems != 1)} {'was' if disturbed == 1 else 'were'} disturbed: "
                f"{columns.CAUSES.get(cause, cause)}; their values are marked ~ and win nothing")


def key_features(problem: str) -> dict[str, float | str]:
    """"n=10;metric=euclidean" as {"n": 10.0, "metric": "euclidean"}."""
    features: dict[str, float | str] = {}
    for item in problem.split(";"):
        name, _, text = item.partition("=")
        features[name] = float(text) if re.fullmatch(r"-?\d{1,18}(\.\d+)?", text) else text
    return features


def _number(row: dict, column: str) -> float:
    text = row[column]
    if text == "":
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise Unusable(f"{column} is not a number: {text[:40]!r}") from None


def _case(row: dict) -> Case:
    case = Case(*(row[name] for name in ("variant", "role", "status", "reason", "problem", "configuration")))
    if case.status == "ok":
        names = ("time_ns", "time_lo_ns", "time_hi_ns", "bytes", "roofline_share", "ops")
        case.time, case.low, case.high, case.bytes, case.roofline, case.ops = (_number(row, name) for name in names)
        case.stages = row.get(columns.STAGES, "")
        case.disturbed, case.samples = row.get("disturbed", ""), int(row.get("samples") or LEAST_INTERVAL_SAMPLES)
    return case


def read_csv(path: Path) -> Family:
    """The family of a table of records."""
    csv.field_size_limit(LARGEST_CELL)
    family, extra, counters = Family(printable(path.stem)), [], []

    def add(row: dict) -> None:
        if None in row or None in row.values():
            raise ValueError("a line has not as many cells as the header")
        case = _case(row)
        if not family.cases:
            extra.extend(columns.of_problem(row))
            counters.extend(name for name in extra if "__" in name)  # how CUPTI spells them
        if case.status == "ok":
            case.counters = _counters(row, counters)
            case.transfer = _counters(row, [columns.TRANSFER]).get(columns.TRANSFER, math.nan)
        family.cases.append(case)
        family.provenance[tuple(row.get(name, "") for name in PROVENANCE)] += 1
        if case.problem not in family.features:
            _add_problem(family, case.problem, row, extra)

    read_table(path, add)
    family.left_out = _most_common(family.words.values())
    return family


def read_table(path: Path, read) -> list:
    """What `read` makes of each row of a table that the program wrote."""
    try:
        with closing(regular_files.lines(path)) as stream:
            return [read(row) for row in csv.DictReader((inert(line) for line in stream), strict=True)]
    except (csv.Error, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise Unusable(f"no table of this kind: {error}") from None


def _choice(row: dict) -> tuple[str, Choice]:
    leaf, problems = (int(row[name] or -1) for name in ("leaf", "leaf_problems"))
    return row["problem"], Choice(
        row["variant"], row["configuration"], _number(row, "time_ns"), _number(row, "regret"), row["reason"],
        row["earlier_source"] == "1", row["tree_device"], leaf, problems, row["other_leaf"] == "1", row["conditions"])


def read_choices(path: Path) -> dict[str, Choice]:
    """By problem what the library runs."""
    return dict(read_table(path, _choice))


def _most_common(words: Iterable[dict[str, str]]) -> dict[str, str]:
    counts: dict[str, Counter] = defaultdict(Counter)
    for found in words:
        for name, word in found.items():
            counts[name][word] += 1
    return {name: of.most_common(1)[0][0] for name, of in counts.items()}


def _counters(row: dict, names: list[str]) -> dict[str, float]:
    """Those that were counted; what is no number is as good as not counted."""
    found = {}
    for name in names:
        if text := row.get(name):
            try:
                value = float(text)
            except ValueError:
                continue
            if math.isfinite(value):
                found[name] = value
    return found


def _add_problem(family: Family, problem: str, row: dict, extra: list[str]) -> None:
    features = key_features(problem)
    for column in extra:
        name, text = columns.feature_of(column), row[column]
        if name in features or text == "":
            continue
        if "__" in name:
            if name not in family.counters:
                family.counters.append(name)
            continue
        try:
            features[name] = float(text)
            family.derived.add(name)
        except ValueError:
            family.words.setdefault(problem, {})[name] = text
    family.features[problem] = features


def read_json(path: Path):
    try:
        return inert_values(json.loads(regular_files.read_text(path, LARGEST_JSON)))
    except (ValueError, RecursionError) as error:
        raise Unusable(f"not JSON: {error}") from None


def read_object(path: Path, member: str = "") -> dict:
    """A JSON object, or the member of one where the file wraps it under a schema's name."""
    body = read_json(path)
    if isinstance(body, dict) and member and isinstance(body.get(member), dict):
        body = body[member]
    if not isinstance(body, dict):
        raise Unusable("not a JSON object")
    return body


def load_device(folder: Path, exports: Path) -> Device:
    """A device of `folder`, its records as they were exported to `exports`."""
    device = Device(printable(folder.name))

    def attempt(path: Path, read, *arguments):
        try:
            return read(path, *arguments)
        except (Unusable, OSError) as error:
            device.errors.append(f"{path.name}: {error}")
            return None

    def families(tables: Path, found: dict[str, Family]) -> None:
        for path in sorted(tables.glob("*.csv")):
            if (family := attempt(path, read_csv)) is None:
                continue
            found[family.name] = family
            if (choices := tables / "choices" / path.name).exists():
                family.choices = attempt(choices, read_choices) or {}
            if (tree := tables / "trees" / path.name).exists():
                held_out = trees.held_out_of(device.selector, family.name)
                family.tree = attempt(tree, read_table, lambda row: trees.node(row, held_out)) or []

    if (folder / "selector.json").exists():
        device.selector = attempt(folder / "selector.json", read_object) or {}
    families(exports, device.families)
    families(exports / "unseen", device.unseen)
    families(exports / "peers", device.peers)
    if (folder / "device.json").exists():
        device.info = attempt(folder / "device.json", read_object, "device") or {}
    return device


def load(results: Path, exports: Path, keys: list[str] | None = None) -> list[Device]:
    """Every device below `results`, or those of `keys`; those with the most measurements first."""
    devices = []
    for folder in sorted(path.parent for path in results.glob("*/device.json")):
        if keys and folder.name not in keys:
            continue
        device = load_device(folder, exports / folder.name)
        if device.families or device.errors:
            devices.append(device)
    return sorted(devices, key=lambda device: -sum(len(family.cases) for family in device.families.values()))


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values)) if values else math.nan


def quantile(values: list[float], share: float) -> float:
    """Linear between the order statistics."""
    if not values:
        return math.nan
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
