"""The figures of docs/performance/selectors.md: how good the trees are, from results/<device-key>/selector.json."""

from pathlib import Path

from evidence import between, number, paragraph, table
from regular_files import read_json

BEGIN, END = "<!-- begin figures: plots/documents.py -->\n", "<!-- end figures -->"
HEADER = ("leaves", "unseen", "predicted", "held out", "best single, nearest", "choice")
TARGETS = {"regret_geomean": 1.02, "regret_p90": 1.06, "regret_max": 1.25}


def mean(figures: dict | None) -> str:
    """A dash where one problem is all there is: held out, it leaves nothing."""
    return number(None) if not figures or figures["regret_geomean"] is None else f"{figures['regret_geomean']:.3f}"


def meets_targets(figures: dict | None) -> bool:
    return bool(figures) and all(figures[name] is not None and figures[name] <= most for name, most in TARGETS.items())


def held_out(figures: dict | None) -> str:
    """The mean, bold where the targets are met."""
    return f"**{mean(figures)}**" if meets_targets(figures) else mean(figures)


def unseen(figures: dict | None) -> str:
    """Of problems that nothing was trained on (`espalier judge`), bold where the targets are met; then weighted by time."""
    if not figures or not figures["problems"]:
        return number(None)
    text = f"{figures['regret_geomean']:.3f}, {figures['regret_p90']:.3f}, {figures['p99']:.3f}"
    met = figures["regret_geomean_interval"][1] <= 1.02 and figures["regret_p90"] <= 1.06 and figures["p99"] <= 1.25
    return (f"**{text}**" if met else text) + f"; {figures['time_weighted']:.3f} of {figures['problems']}"


def leaves_a_choice(found: dict) -> bool:
    """Not where one choice is the best for every problem."""
    return found["leaves"] > 1 or found["regret_max"] > 1


def device_rows(title: str, families: dict) -> list[list]:
    others = ("held_out_best_single", "held_out_nearest_neighbour")
    return [[f"**{title}**"]] + [
        [family, found["leaves"], unseen(found.get("unseen")), unseen(found.get("unseen_predicted")),
         held_out(found["held_out"]),
         ", ".join(mean(found[other]) for other in others), number(found["dispatch_ns"])]
        for family, found in families.items() if leaves_a_choice(found)]


def held_out_alone(devices: dict[str, dict]) -> str:
    """Devices that `judge` has graded nothing of: how many families meet the targets, and the worst family's mean."""
    met, worst = [], []
    for families in devices.values():
        found = [of["held_out"] for of in families.values()
                 if leaves_a_choice(of) and of["held_out"] and of["held_out"]["regret_geomean"] is not None]
        met.append(sum(map(meets_targets, found)))
        worst.append(max(figures["regret_geomean"] for figures in found))
    return paragraph(f"Held out, the {len(devices)} devices without unseen problems meet the targets in {min(met)} to {max(met)} "
                     f"families; worst means: {min(worst):.3f} to {max(worst):.3f}.")


def with_figures(text: str, results: Path, devices: dict[str, str]) -> str:
    """The page with its figures renewed: a table of the devices that were judged, each under its title, then the others."""
    figures = {title: read_json(results / key / "selector.json")["families"] for key, title in devices.items()}
    judged = {title for title, families in figures.items()
              if any((found.get("unseen") or {}).get("problems") for found in families.values())}
    rows = [row for title, families in figures.items() if title in judged for row in device_rows(title, families)]
    others = {title: families for title, families in figures.items() if title not in judged}
    tables = ([table(["family", *HEADER], rows)] if rows else []) + ([held_out_alone(others)] if others else [])
    return between(text, BEGIN, END, "\n".join(tables))
