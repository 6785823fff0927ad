#!/usr/bin/python3
"""The tables that set printed figures beside measured ones: every cell comes from a row whose parameters are the ones that
the table's own text names, and every case that a table asks for is in the suite that measures it.

usage: published_page_test.py PATH_OF_ESPALIER FOLDER_OF_EXPORTS
"""

import dataclasses
import functools
import json
import re
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

ESPALIER, EXPORTS = "", Path()
REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "plots"))

from evidence import Evidence, newest, number  # noqa: E402
from coherence_page import CoherencePage  # noqa: E402
from like_for_like import (  # noqa: E402
    QUANTITIES, Compared, Line, MixedFeatures, Share, Table, Values, matching, parts, pins, rows_table)
from published_page import in_brief, published_page, section, shown_columns  # noqa: E402
from published_tables import CPU, ONE_THREAD, coherence_tables, lab_tables, tables  # noqa: E402
from results import Choice, load_device  # noqa: E402
from rules import graded, holds, ruled  # noqa: E402
from story_page import story_page  # noqa: E402

RESULTS = REPOSITORY / "results"
PRINTED = {entry["id"]: entry for entry in json.loads((RESULTS / "published/tables.json").read_text())["tables"]}
PRINTED_TREES = json.loads((RESULTS / "published/rules.json").read_text())["trees"]
@functools.cache
def committed(key: str) -> Evidence:
    return Evidence.load(RESULTS / key, EXPORTS)


def both() -> tuple[Evidence, Evidence]:
    """Of the GPU and of the CPU that the pages are of."""
    return committed("nvidia-h200"), committed("cpu-emeraldrapids-avx512vnni-2t")


ALL_TABLES = [*tables(), *coherence_tables(), *lab_tables()]


def columns_of(ours: Table) -> list:
    return list(ours.own_columns) or list(PRINTED[ours.identity]["x"]["values"])


def on_page(ours: Table) -> list:
    """The columns that a page shows."""
    return shown_columns(ours, columns_of(ours))


def invented(ours: Table) -> dict[str, list[dict]]:
    """A row for each cell of a table, each with a time of its own."""
    rows = []
    for x in columns_of(ours):
        for line in ours.lines:
            if not isinstance(line, Line):
                continue
            wanted = parts(ours.parameters) | parts(ours.of_column(x)) | parts(line.own)
            named = dict(part.split("=") for part in wanted)
            variant = named.pop("variant", line.variant)
            # Every other part is put into the key: a setting that stands there is found as well.
            problem = ";".join(f"{name}={value}" for name, value in sorted(named.items()))
            rows.append({"variant": variant, "problem": problem, "configuration": "default", **named,
                         "time_ns": str(1e6 + len(rows)), "transfer_ns": "5000000"})
    return {ours.family: rows}


class Text:
    """A section as a reader has it: what its heading, its first cells and its column heads say."""

    def __init__(self, text: str):
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("| ---"))
        head = " ".join(lines[:start - 1])
        measured = head[head.index("Measured: "):]
        self.family = re.match(r"Measured: (\w+),", measured)[1]
        common, _, columns = measured.partition("; a column is ")
        self.common = frozenset().union(*map(parts, re.findall("`([^`]*)`", common)))
        self.columns = columns
        self.heads = [cell.strip() for cell in lines[start - 1].split("|")[2:-1]]
        self.rows = []
        for line in lines[start + 1:]:
            if not line.startswith("|"):
                break
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if cells[0].startswith("**"):
                self.rows.append((cells[0].strip("*"), cells[1:]))

    def of_column(self, head: str) -> frozenset[str]:
        if found := re.fullmatch(r"`([^`]*)`\.\s*", self.columns):  # the same for all of them
            return parts(found[1].replace("=x", "=" + head.replace(",", "")))
        named = dict(re.findall(r"([^:`]+): `([^`]*)`", self.columns))
        return parts({name.strip(" ,"): of for name, of in named.items()}.get(head, ""))

    def of_line(self, label: str) -> tuple[str, frozenset[str], str]:
        """The variant, the parameters and the quantity that a line names."""
        of, _, quantity = label.rpartition(": ")
        codes = re.findall("`([^`]*)`", of)
        variant = codes[0] if codes and "=" not in codes[0] else ""
        return variant, frozenset().union(*map(parts, codes[1 if variant else 0:])), quantity


class LikeForLike(unittest.TestCase):
    def check(self, ours: Table, rows: dict, device: dict, others: dict) -> int:
        """Holds every measured cell against the text; returns how many there were."""
        values = Values(ours, rows, device, others)
        printed = PRINTED.get(ours.identity) if not ours.own_columns else None
        text = Text(section(ours, values, printed))
        self.assertEqual(text.family, ours.family)
        lines = values.shown(on_page(ours))
        self.assertEqual(len(text.rows), len(lines))
        checked = 0
        for index, (label, cells) in zip(lines, text.rows):
            line = ours.lines[index]
            if not isinstance(line, Line):
                continue
            variant, own, quantity = text.of_line(label)
            self.assertEqual(len(cells), len(on_page(ours)))
            for x, head, shown in zip(on_page(ours), text.heads, cells):
                cell = values.cell(index, x)
                if not cell.rows:
                    self.assertEqual(shown, number(None))
                    continue
                named = text.common | text.of_column(head) | own
                row, = cell.rows
                problem = parts(row["problem"]) | pins(row)
                where = f"{ours.identity}, {label}, {head}: {row['variant']} {row['problem']} {row['configuration']}"
                self.assertLessEqual(problem, named, f"an axis that the text leaves open: {where}")
                self.assertLessEqual(named, problem | parts(row["configuration"]) | {f"variant={row['variant']}"}, where)
                self.assertTrue(variant == row["variant"] or f"variant={row['variant']}" in named, where)
                how = QUANTITIES[line.by_column.get(x, quantity)]
                self.assertEqual(shown, number(how(row)), where)
                checked += 1
        return checked

    def test_cells_of_committed_rows_are_what_the_text_names(self):
        h200, cpu = both()
        checked = sum(self.check(ours, h200.rows, h200.device, {CPU: cpu.rows}) for ours in ALL_TABLES)
        self.assertGreater(checked, 200)

    def test_every_cell_of_a_time_is_found_where_it_was_measured(self):
        for ours in ALL_TABLES:
            timed = dataclasses.replace(ours, lines=tuple(line for line in ours.lines if isinstance(line, Line)), faster=())
            timed = dataclasses.replace(timed, lines=tuple(dataclasses.replace(line, quantity="ms") for line in timed.lines),
                                        on_page=())
            rows = invented(timed)
            self.assertEqual(self.check(timed, rows, {}, {CPU: rows, ONE_THREAD: rows}), len(timed.lines) * len(on_page(ours)), ours.identity)

    def test_another_experiment_is_no_cell(self):
        """Faster rows that differ in one axis, or have one more, leave the cells what they were."""
        for ours in ALL_TABLES:
            rows = invented(ours)[ours.family]
            decoys = []
            for row in rows:
                for part in row["problem"].split(";"):
                    decoys.append({**row, "problem": row["problem"].replace(part, part + "0"), "time_ns": "1"})
                decoys.append({**row, "problem": row["problem"] + ";data=continuous", "time_ns": "1"})
                decoys.append({**row, "configuration": "distance.global=1", "time_ns": "1"})
            values = Values(ours, {ours.family: decoys}, {}, {CPU: {ours.family: decoys}})
            known = {(row["problem"], row["configuration"]) for row in rows}
            for x in columns_of(ours):
                for index, line in enumerate(ours.lines):
                    if not isinstance(line, Line):
                        continue
                    self.assertTrue(all((row["problem"], row["configuration"]) in known for row in values.cell(index, x).rows), ours.identity)

    def test_a_heading_that_leaves_an_axis_open_has_no_cells(self):
        h200, _ = both()
        h1 = next(ours for ours in tables() if ours.identity == "H1")
        named = Values(h1, h200.rows, h200.device).cell(0, "excluded")
        self.assertIn("distribution=uniform", named.rows[0]["problem"])
        self.assertIn("blocks_per_sm=2", named.rows[0]["configuration"])
        left_open = dataclasses.replace(h1, parameters=h1.parameters.replace(";distribution=uniform", ""))
        self.assertIsNone(Values(left_open, h200.rows, h200.device).cell(0, "excluded").value)

    def test_a_page_shows_few_columns_and_the_lines_that_have_cells(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms"), Line("b", "ms"), Line("c", "ms")), own_columns=(1, 2, 3, 4, 5),
                     title="All", on_page=(0, 1))
        rows = {"f": [{"variant": variant, "problem": f"n={n}", "configuration": "default", "time_ns": f"{n}e6"}
                      for variant in "ac" for n in range(1, 6)]}
        text = Text(section(ours, Values(ours, rows, {}), None))
        self.assertEqual((text.heads, text.rows), (["1", "3", "5"], [("`a`: ms", ["1", "3", "5"])]))
        self.assertEqual(in_brief(ours, Values(ours, rows, {})), ["**T** All<br>f<br>`n=x`: 1; 3; 5", "`a` 1; 3; 5"])
        self.assertEqual(shown_columns(dataclasses.replace(ours, columns={}), [1, 2, 3, 4]), [1, 2, 3, 4])

    def test_dashes_that_have_one_reason_are_not_listed(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms"), Line("b", "ms")), own_columns=(1, 2))
        rows = {"f": [{"variant": variant, "problem": f"n={n}", "configuration": "default", "time_ns": "1"}
                      for variant, n in (("a", 1), ("b", 2))]}
        failed = [{"variant": variant, "problem": f"n={n}", "configuration": "default", "status": "not_measured",
                   "reason": "time budget", "time_ns": ""} for variant, n in (("a", 2), ("b", 1))]
        every, one = (section(ours, Values(ours, rows, {}, failed={"": {"f": of}}), None) for of in (failed, failed[:1]))
        self.assertIn("A dash: not measured (time budget).", every)
        self.assertIn("Without a time, not measured (time budget): `a` at 2.", one)

    def test_a_share_is_of_what_could_be_gone(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms"), Line("b", "ms"), Line("c", "ms"), Share("hidden", 0, 1, 2)),
                     own_columns=(1, 2))
        rows = {"f": [{"variant": v, "problem": f"n={n}", "configuration": "default", "time_ns": t}
                      for n, times in ((1, ("3e6", "5e6", "1e6")), (2, ("3e6", "5e6", "5e6"))) for v, t in zip("abc", times)]}
        self.assertEqual([cell.value for cell in Values(ours, rows, {}).line(3, [1, 2])], [50, None])

    def test_stages_of_rows_are_named(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms"),), own_columns=(1, 2))
        rows = {"f": [{"variant": "a", "problem": f"n={n}", "configuration": "default", "time_ns": "1", "stages": stages}
                      for n, stages in ((1, "distance/b smallest_k/c"), (2, ""))]}
        text = section(ours, Values(ours, rows, {}), None)
        self.assertIn("Stages `distance/b` and `smallest_k/c`: `a`.", text)

    def test_comparisons_are_of_their_lines(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms"), Line("b", "ms"), Compared("a over b", 0, 1),
                                             Compared("a more than b", 0, 1, percent=True)), own_columns=(1, 2))
        rows = {"f": [{"variant": v, "problem": "n=1", "configuration": "default", "time_ns": t}
                      for v, t in (("a", "3e6"), ("b", "2e6"))]}
        values = Values(ours, rows, {})
        self.assertEqual([cell.value for cell in values.line(2, [1, 2])], [1.5, None])
        self.assertEqual(values.cell(3, 1).value, 50)
        self.assertEqual(len(values.cell(2, 1).rows), 2)

    def test_rows_of_the_suite_replace_others(self):
        def row(time, configuration="default"):
            return {"variant": "a", "problem": "n=1", "configuration": configuration, "time_ns": time}

        found = newest([row("2")], [row("1"), row("3", "block=1")])
        self.assertEqual([r["time_ns"] for r in matching(found, "a", frozenset({"n=1"}))], ["2", "3"])


class Rows(unittest.TestCase):
    """A table as one row says what its section says, whose cells are held against their rows above."""

    def test_a_row_has_the_lines_of_the_section(self):
        h200, cpu = both()
        for ours in ALL_TABLES:
            printed = PRINTED.get(ours.identity) if not ours.own_columns else None
            values = Values(ours, h200.rows, h200.device, {CPU: cpu.rows})
            about, *cells = in_brief(ours, values, printed)
            text = Text(section(ours, values, printed))
            self.assertEqual(cells[-1].split("<br>") if cells[-1] else [],
                             [f"{label.removesuffix(': ms')} {'; '.join(shown)}" for label, shown in text.rows], ours.identity)
            self.assertIn(f"**{ours.identity}** ", about)
            named = frozenset().union(*map(parts, re.findall("`([^`]*)`", about)))
            self.assertLessEqual(text.common, named, ours.identity)
            self.assertEqual(len(cells), 2 if printed else 1)


class Pages(unittest.TestCase):
    """Tables of rows that are found otherwise than by a `Table`, and all pages as a whole."""

    ROW = {"variant": "a", "problem": "n=1;m=2", "configuration": "block=8", "time_ns": "1"}

    def test_a_row_of_another_feature_is_refused(self):
        shown = rows_table("Measured: `n=1`.", ["", "ms"], [("`a`, `block=8;m=2`", self.ROW, [1])])
        self.assertIn("| `a`, `block=8;m=2` | 1 |", shown)
        for problem, configuration in (("n=1;m=3", "block=8"), ("n=2;m=2", "block=8"), ("n=1;m=2;precision=half", "block=8"),
                                       ("n=1", "block=8"), ("n=1;m=2", "block=4"), ("n=1;m=2", "block=8;distance.b=1")):
            row = {**self.ROW, "problem": problem, "configuration": configuration}
            with self.assertRaises(MixedFeatures, msg=f"{problem} {configuration}"):
                rows_table("Measured: `n=1`.", ["", "ms"], [("`a`, `block=8;m=2`", row, [1])])

    @staticmethod
    def written(h200: Evidence, cpu: Evidence) -> str:
        printed = json.loads((RESULTS / "published/tables.json").read_text())
        return "\n".join([CoherencePage(printed, h200, cpu).text(), story_page(h200, cpu, None),
                          published_page(printed, {"applications": {}, "none": {}}, h200, cpu, "")])

    def test_faster_rows_of_features_that_no_table_names_change_no_page(self):
        def decoys(rows: dict[str, list[dict]]) -> dict[str, list[dict]]:
            return {family: [*({**row, "problem": f"{row['problem']};unnamed=1", "time_ns": row["time_ns"] / 10} for row in found),
                             *({**row, "configuration": "distance.unnamed=1", "time_ns": row["time_ns"] / 10} for row in found),
                             *found] for family, found in rows.items()}

        h200, cpu = both()
        before = self.written(h200, cpu)
        self.assertEqual(self.written(dataclasses.replace(h200, rows=decoys(h200.rows)),
                                      dataclasses.replace(cpu, rows=decoys(cpu.rows))), before)

    def test_tables_of_rows_name_their_precision(self):
        """Of the source's figures in single precision and of ours in half, each is among its own."""
        h200, cpu = both()
        page = CoherencePage({"tables": list(PRINTED.values())}, h200, cpu)
        stated = "output=maximum;receivers=1920;span=512;delays=cube"
        for features, half in ((stated, False), (stated + ";precision=half", True)):
            rows = page.best_windows(features)
            self.assertGreater(len(rows), 2)
            self.assertEqual({"precision=half" in row["problem"] for row in rows}, {half})


class Beside(unittest.TestCase):
    def test_how_many_times_as_fast_as_printed(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms", "block=1"),), ((0, 1),))
        rows = {"f": [{"variant": "a", "problem": "n=1", "configuration": "block=1", "time_ns": "2e6"}]}
        (label, cells), = Values(ours, rows, {}).faster([1, 2], [[9, 9], [30, 40]])
        self.assertEqual(label, "`a`, `block=1`: times as fast as printed")
        self.assertEqual([cell.value for cell in cells], [15, None])

    def test_what_is_set_beside_each_other_are_times(self):
        for ours in ALL_TABLES:
            for line, series in ours.faster:
                self.assertEqual(ours.lines[line].quantity, PRINTED[ours.identity]["series"][series]["unit"], ours.identity)

    def test_an_empty_cell_that_was_tried_says_why(self):
        ours = Table("T", "f", "", "n={x}", (Line("a", "ms"), Line("b", "ms", "block=1")), own_columns=(1, 2))
        rows = {"f": [{"variant": "a", "problem": "n=1", "configuration": "default", "time_ns": "1"}]}
        failed = [{"variant": variant, "problem": f"n={n}", "configuration": configuration, "status": "not_measured",
                   "reason": "time budget", "time_ns": ""}
                  for variant, n, configuration in (("a", 1, "default"), ("a", 2, "default"), ("b", 2, "block=2"))]
        values = Values(ours, rows, {}, failed={"": {"f": failed}})
        self.assertEqual(values.reasons([1, 2]), {"not measured (time budget)": ["`a` at 2"]})


class Suite(unittest.TestCase):
    def test_every_case_of_a_table_is_measured_by_the_suite(self):
        listed = json.loads(subprocess.run([ESPALIER, "list", "--suite", "published", "--json"], capture_output=True,
                                           text=True, check=True).stdout)
        for ours in ALL_TABLES:
            name = ours.suite or ours.identity
            rows = [{**entry, "time_ns": 1} for entry in listed
                    if entry["family"] == ours.family and name in entry["tables"].split()]
            for x in columns_of(ours):
                for line in ours.lines:
                    if not isinstance(line, Line):
                        continue
                    wanted = parts(ours.parameters) | parts(ours.of_column(x)) | parts(line.own)
                    self.assertTrue(matching(rows, line.variant, wanted), f"{ours.identity}: {line.label()} at {x}")

    def test_every_case_was_counted_on_a_gpu(self):
        measured, counted = set(), set()
        for folder in (RESULTS / "published").glob("nvidia-*"):
            for name, family in load_device(folder, EXPORTS / "published" / folder.name).families.items():
                cases = [case for case in family.cases if case.status == "ok"]
                measured |= {(name, case.problem, case.variant) for case in cases}
                counted |= {(name, case.problem, case.variant) for case in cases if case.counters}
        self.assertTrue(measured)
        self.assertEqual(measured - counted, set())

    def test_every_printed_table_has_its_section(self):
        shown = {ours.identity for ours in ALL_TABLES} | {"K14", "S2", "S3"}  # of commands, and of S1's row
        self.assertEqual(set(PRINTED) - shown, set())


class Rules(unittest.TestCase):
    TREE = {"where": ["metric=euclidean"], "rules": [{"if": ["k<=21"], "then": "a:block=1", "from": ""},
                                                     {"if": [], "then": "b", "from": ""}]}

    def test_conditions(self):
        self.assertTrue(holds("k<=21", {"k": "21"}))
        self.assertFalse(holds("k<=21", {"k": "22"}))
        self.assertTrue(holds("k>21", {"k": "22"}))
        self.assertTrue(holds("points * dims<=134217728", {"points": "1048576", "dims": "128"}))
        self.assertFalse(holds("points * dims<=134217728", {"points": "1048577", "dims": "128"}))
        self.assertTrue(holds("metric=euclidean|cosine", {"metric": "cosine"}))
        self.assertFalse(holds("metric=euclidean|cosine", {"metric": "manhattan"}))

    def test_the_first_rule_that_can_run_decides(self):
        times = {("a", "block=1"): 5.0, ("a", "block=2"): 1.0, ("b", "default"): 2.0}
        self.assertEqual(ruled(self.TREE, {"k": 5}, times), ("a", "block=1"))
        self.assertEqual(ruled(self.TREE, {"k": 50}, times), ("b", "default"))
        del times["a", "block=1"]
        self.assertEqual(ruled(self.TREE, {"k": 5}, times), ("b", "default"))

    def test_regrets(self):
        def row(variant, time, role="documented", metric="euclidean"):
            return {"variant": variant, "role": role, "configuration": "block=1" if variant == "a" else "default", "k": "1",
                    "n": "9", "metric": metric, "problem": "k=1;metric=" + metric, "time_ns": str(time)}

        rows = [row("a", 6), row("b", 3), row("c", 2, "modern"), row("p", 1, "peer"), row("a", 1, metric="cosine")]
        chosen = {"k=1;metric=euclidean": Choice("c", "default", 2.0, 1.0, "", False, "key", 0, 5, False, "")}
        self.assertEqual(graded(self.TREE, chosen, rows),
                         {"rules": [3.0], "rules among documented variants": [2.0], "learned tree": [1.0]})
        self.assertEqual(graded(self.TREE, {}, rows)["rules"], [])  # compared where both are known

    def test_the_newer_printed_tree_is_the_better_one(self):
        """Geometric means of the regret on all problems and on mixed ones alone, of all variants and of documented ones.
        Those of all variants grow with each new one that is faster."""
        h200, _ = both()
        names = ("rules", "rules among documented variants")
        means = [[statistics.geometric_mean(graded({**tree, "where": tree[where]}, h200.chosen["distance"], h200.swept["distance"])[name])
                  for where in ("where", "alone") for name in names] for tree in PRINTED_TREES[:2]]
        for tree, expected in zip(means, ((2.2, 1.2, 2.15, 1.23), (2.93, 1.59, 4.48, 2.57))):
            for found, mean in zip(tree, expected):
                self.assertAlmostEqual(found, mean, delta=0.05)

    def test_committed_rules_are_graded(self):
        h200, _ = both()
        for tree in PRINTED_TREES:
            for rows, least in ((h200.swept, 50), (h200.unseen, 20)):
                found = graded(tree, h200.chosen[tree["family"]], rows[tree["family"]])
                self.assertGreater(len(found["rules"]), least)
                self.assertGreaterEqual(min(found["rules"]), 1.0)
                self.assertGreaterEqual(min(found["learned tree"]), 1.0)


class PrintedTrees(unittest.TestCase):
    """The thesis' sentences, each on both sides of its condition, where every variant can run."""
    FERMI, OLDER, SELECTION = PRINTED_TREES
    FITS, TOO_LARGE = 1 << 20, (1 << 20) + 1  # points of 128 attributes: 2^27 elements, and more
    DISTANCES = {(variant, configuration): 1.0 for variant, configuration in (
        ("texture_1d_shared_tile", "default"), ("texture_2d", "default"), ("texture_1d", "texture_types=0"),
        ("texture_1d", "texture_types=1"), ("shared_load_all", "default"), ("shared_load_tile", "default"))}
    LISTS = {(variant, configuration): 1.0 for variant, configuration in (
        ("register_insertion", "block=256;texture=0"), ("register_insertion", "block=256;texture=1"),
        ("register_insertion", "block=64;texture=1"), ("local_insertion", "block=256"))}

    def picks(self, tree: dict, metric: str, points: int, dims: int) -> str:
        return ruled(tree, {"metric": metric, "points": points, "dims": dims}, self.DISTANCES)[0]

    def test_euclidean_through_a_1d_texture_while_it_fits_one(self):
        for tree in (self.FERMI, self.OLDER):
            self.assertEqual(self.picks(tree, "euclidean", self.FITS, 128), "texture_1d_shared_tile")
            self.assertEqual(self.picks(tree, "euclidean", self.TOO_LARGE, 128), "shared_load_all")
            self.assertEqual(self.picks(tree, "euclidean", self.TOO_LARGE, 129), "shared_load_tile")

    def test_mixed_on_fermi_by_the_number_of_attributes(self):
        for points in (1, self.FITS, self.TOO_LARGE):
            self.assertEqual(self.picks(self.FERMI, "mixed_euclidean", points, 128), "shared_load_all")
            self.assertEqual(self.picks(self.FERMI, "mixed_euclidean", points, 129), "shared_load_tile")

    def test_mixed_before_fermi_through_textures_while_they_hold_the_set(self):
        for points, dims, variant in ((65536, 128, "texture_2d"), (65537, 128, "texture_1d"), (4096, 32768, "texture_2d"),
                                      (4096, 32769, "shared_load_tile"), (4095, 32769, "texture_1d"),
                                      (self.FITS, 128, "texture_1d"), (self.TOO_LARGE, 128, "shared_load_all"),
                                      (self.TOO_LARGE, 129, "shared_load_tile")):
            self.assertEqual(self.picks(self.OLDER, "mixed_euclidean", points, dims), variant, f"{points} x {dims}")

    def test_lists_in_registers_up_to_21(self):
        def picks(k: int, elements: int) -> tuple[str, str]:
            return ruled(self.SELECTION, {"k": k, "elements": elements}, self.LISTS)

        self.assertEqual(picks(21, 1 << 27), ("register_insertion", "block=256;texture=1"))
        self.assertEqual(picks(21, (1 << 27) + 1), ("register_insertion", "block=256;texture=0"))
        self.assertEqual(picks(22, 1), ("local_insertion", "block=256"))


if __name__ == "__main__":
    ESPALIER, EXPORTS = sys.argv.pop(1), Path(sys.argv.pop(1))
    unittest.main()
