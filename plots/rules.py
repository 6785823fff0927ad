"""The thesis' rules for choosing a variant beside the learned trees: what each costs on measured and on unseen problems."""

import math
import re
from collections import defaultdict
from pathlib import Path

from evidence import Evidence, paragraph, table
from like_for_like import parts
from regular_files import read_json
from results import Choice

Times = dict[str, dict[tuple[str, str], float]]  # by problem, then by variant and configuration


def holds(condition: str, features: dict) -> bool:
    """"k<=21", "points * dims>128" or "metric=euclidean|manhattan"."""
    name, relation, value = re.fullmatch(r"(\w+(?: \* \w+)?)(<=|>|=)(.+)", condition).groups()
    if relation == "=":
        return str(features[name]) in value.split("|")
    product = math.prod(float(features[factor]) for factor in name.split(" * "))
    return (product <= float(value)) == (relation == "<=")


def ruled(tree: dict, features: dict, times: dict) -> tuple[str, str] | None:
    """What the first rule that holds and can run picks; the fastest configuration where it names none."""
    for rule in tree["rules"]:
        if not all(holds(condition, features) for condition in rule["if"]):
            continue
        variant, _, settings = rule["then"].partition(":")
        can = [choice for choice in times if choice[0] == variant and parts(settings) <= parts(choice[1])]
        if can:
            return min(can, key=times.get)
    return None


def measured(rows: list[dict], where: list[str]) -> tuple[Times, dict[str, dict], set[str]]:
    """Times and features of the problems that the rules are about, and the variants that sources document."""
    times, features, documented = defaultdict(dict), {}, set()
    for row in rows:
        if row["role"] == "peer" or row.get("disturbed") or not all(holds(condition, row) for condition in where):
            continue
        times[row["problem"]][row["variant"], row["configuration"]] = float(row["time_ns"])
        features[row["problem"]] = row
        if row["role"] != "modern":
            documented.add(row["variant"])
    return times, features, documented


def figures(regrets: list[float]) -> str:
    if not regrets:
        return "–"
    ordered = sorted(regrets)
    mean = math.exp(sum(map(math.log, regrets)) / len(regrets))
    return ", ".join(f"{value:.3f}" for value in (mean, ordered[int(0.9 * (len(ordered) - 1))], ordered[-1]))


def graded(tree: dict, chosen: dict[str, Choice], rows: list[dict]) -> dict[str, list]:
    """Regrets of the rules among all variants, of the rules among documented ones, and of what the library chose."""
    times, features, documented = measured(rows, tree["where"])
    found = {"rules": [], "rules among documented variants": [], "learned tree": []}
    for problem, choices in times.items():
        best = min(choices.values())
        by_rule, learned = ruled(tree, features[problem], choices), chosen.get(problem)
        by_tree = (learned.variant, learned.configuration) if learned else None
        if by_rule is None or by_tree not in choices:
            continue
        own = min(time for (variant, _), time in choices.items() if variant in documented)
        found["rules"].append(choices[by_rule] / best)
        found["rules among documented variants"].append(choices[by_rule] / own)
        found["learned tree"].append(choices[by_tree] / best)
    return found


def describe(rule: dict) -> str:
    return f"{' and '.join(f'`{c}`' for c in rule['if']) or 'otherwise'}: `{rule['then']}` ({rule['from'].partition(':')[0]})"


def section(tree: dict, evidence: Evidence) -> str:
    """A tree's rules and its regrets on all of its problems, and on those that are looked at alone."""
    text = f"\n### {tree['id']}\n\n" + "".join(f"{i}. {describe(rule)}\n" for i, rule in enumerate(tree["rules"], 1))
    rows = [row for where in ("where", "alone") if where in tree for row in grades(tree | {"where": tree[where]}, evidence)]
    return text + "\n" + table(["problems", "rules", "rules among documented variants", "learned tree"], rows)


def grades(tree: dict, evidence: Evidence) -> list[list[str]]:
    """A row of the measured problems and one of the unseen ones."""
    family, where = tree["family"], ";".join(tree["where"]).replace("|", ",")
    sorts = {sort: graded(tree, evidence.chosen.get(family, {}), rows.get(family, []))
             for sort, rows in (("measured", evidence.swept), ("unseen", evidence.unseen))}
    return [[f"`{where}`, {len(found['rules'])} {sort}", *map(figures, found.values())] for sort, found in sorts.items()]


def rules_section(folder: Path, evidence: Evidence) -> str:
    body = read_json(folder / "rules.json")
    text = "\n## K-fig33-34: the thesis' decision trees\n\n" + paragraph(body["about"]) + "\n" + paragraph(
        "Regret: geometric mean, P90 and largest, of problems where the rules' and the library's choices were timed.")
    return text + "".join(section(tree, evidence) for tree in body["trees"])
