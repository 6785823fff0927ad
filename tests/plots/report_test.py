#!/usr/bin/python3
"""The report, end to end: results folders of every condition in, page and exports out.

usage: report_test.py PATH_OF_ESPALIER
"""

import base64
import csv
import hashlib
import html
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plots"))
import report  # noqa: E402
from page_data import digits  # noqa: E402
from report_pages import CHROMIUM, COLUMNS, HEADLESS, LAST, REPOSITORY, Page, ReportCase, case, sealed, sweep, to_csv, write_device, write_tree, write_tree_text

COMPARE = Path("/usr/share/benchmark/compare.py")
NODE = shutil.which("node")
CHOICES = ("family,problem,variant,configuration,time_ns,regret,reason,earlier_source,tree_device,tree_data,leaf,"
           "leaf_problems,other_leaf,conditions").split(",")
TREE = "depth,condition,leaf,problems,margin,regret,regret_lo,regret_hi,variant,configuration".split(",")
HOSTILE = "</td><script>alert('x')</script> \" & =1+1 ${IFS} $x^2$ \\frac{1}{2} {{ 7*191 }} */ ??/ ../../x"


class Table(unittest.TestCase):
    def test_of_too_many_problems_those_stay_where_the_choice_loses_most(self):
        losses = {f"n={n}": SimpleNamespace(regret=regret) for n, regret in
                  enumerate([1.5, math.nan, 1.2, math.inf, *[1.3] * report.MOST_PROBLEMS])}
        family = SimpleNamespace(features=dict.fromkeys([*losses, "n=unasked"]), choices=losses)
        shown = report.shown_problems(family)
        self.assertEqual(len(shown), report.MOST_PROBLEMS)
        self.assertEqual(shown[:3], ["n=0", "n=3", "n=4"])
        few = SimpleNamespace(features=dict.fromkeys(shown), choices={})
        self.assertEqual(report.shown_problems(few), shown)


class OrdinaryResults(ReportCase):
    """Many looks at one page."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        ReportCase.make_folders(cls, temporary)
        write_device(cls.results, sweep())
        cls.printed = ReportCase.run_report(cls()).stdout

    def test_shows_every_family_variant_status_and_reason(self):
        self.assertEqual(self.printed.strip(), str(self.output / "index.html"))
        page = self.page()
        for text in ("histogram", "dot", "shared_atomics", "global_atomics", "peer_cub", "unlucky", "host_finish",
                     "Test GPU", "580.1", "because of wrong", "because of crashed", "because of timeout",
                     "because of out_of_memory", "because of unsupported", "because of not_measured", "not trained yet"):
            self.assertIn(text, page.text)

    def test_tables_of_winners_need_no_script(self):
        text = self.page().text
        for exponent in range(10, 22, 2):
            self.assertEqual(text.count(f"bytes={2**exponent};distribution=constant"), 1)
        row = re.search(r'<th>bytes=1048576;distribution=uniform<td>.*?\n', self.text())[0]
        self.assertIn("shared_atomics", row)  # the fastest, its time, its interval and what comes next
        self.assertIn("126 µs", row)
        self.assertIn("123 – 128 µs", row)
        self.assertIn("global_atomics", row)

    def test_scripts_draw_from_the_times_of_the_results(self):
        family = self.data()["test-gpu"]["families"]["histogram"]
        self.assertEqual([f["name"] for f in family["features"]], ["bytes", "distribution"])
        self.assertEqual(family["features"][1]["words"], ["constant", "uniform"])
        grid = family["grid"]
        place = next(i for i, (size, word) in enumerate(zip(*grid["features"])) if (size, word) == (2**20, 1))
        flat = grid["best"][place]
        entries = [flat[i:i + 5] for i in range(0, len(flat), 5)]
        self.assertEqual([family["variants"][e[0]] for e in entries], ["peer_cub", "shared_atomics", "global_atomics"])
        self.assertEqual([family["variants"][i] for i in grid["apart"]], ["peer_cub", "unlucky"])
        self.assertEqual(family["configurations"][entries[1][1]], "block=128")
        self.assertAlmostEqual(entries[1][2] / (9000 + 2**20 / 9 + 128), 1, delta=1e-3)
        self.assertEqual(entries[1][3:], [20, 20])  # per mille

    def test_is_one_self_contained_page(self):
        page = self.page()
        for name, value in page.attributes:
            if name in ("src", "href", "xlink:href", "action", "srcset", "data", "poster"):
                self.assertRegex(value or "", r"^#[\w.-]+$", f"{name} leaves the page")
        text = self.text().replace("http://www.w3.org/2000/svg", "")  # a name, never fetched
        self.assertNotRegex(text.replace("ObjectURL(", ""), r"(?i)https?:|@import|url\((?!#)")
        self.assertEqual([path.name for path in self.output.rglob("*.*") if path.suffix in (".html", ".svg", ".png", ".js")],
                         ["index.html"])

    def test_only_the_pages_own_script_may_run(self):
        self.assertEqual(self.page().tags.count("script"), 2)
        code = re.search(r"<script>(.*?)</script>", self.text(), re.S)[1]
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        policy = next(value for name, value in self.page().attributes if name == "content" and "src" in value)
        self.assertEqual(policy, f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'")
        self.assertNotRegex(code, "innerHTML|insertAdjacentHTML|document.write|eval|new Function")

    def test_a_peer_never_wins(self):
        row = re.search(r"peer_cub</th>.*?</tr>", self.text(), re.S)[0]
        self.assertRegex(row, r'peer</td><td class="n">0</td>')

    def test_exports_are_what_other_tools_read(self):
        cases = sweep()
        written = json.loads(self.run_report("--json", "--no-page").stdout)
        self.assertEqual(len(written["exports"]), 10)
        exports = self.output / "exports/test-gpu"
        own = [c for c in cases if c["family"] == "histogram"]

        exported = json.loads((exports / "histogram.benchmark.json").read_text())
        benchmarks = exported["benchmarks"]
        self.assertEqual(len(benchmarks), sum(c["status"] == "ok" for c in own))
        self.assertEqual(exported["context"]["cases_without_a_time"], len(own) - len(benchmarks))
        by_name = {b["name"]: b for b in benchmarks}
        best = by_name["histogram/shared_atomics/bytes=1024;distribution=uniform/block=128"]
        self.assertAlmostEqual(best["real_time"], 9000 + 1024 / 9 + 128)
        self.assertEqual(best["time_unit"], "ns")

        t4 = json.loads((exports / "histogram.t4.json").read_text())
        jsonschema.validate(t4, {
            "type": "object", "required": ["schema_version", "results"],
            "properties": {"schema_version": {"const": "1.0.0"}, "results": {"type": "array", "items": {
                "type": "object", "required": ["configuration", "times", "invalidity", "correctness"],
                "properties": {
                    "configuration": {"type": "object"}, "objectives": {"type": "array"},
                    "times": {"type": "object", "properties": {"runtimes": {"type": "array", "items": {"type": "number"}}}},
                    "invalidity": {"enum": ["timeout", "compile", "runtime", "correctness", "constraints", "correct"]},
                    "correctness": {"type": "number"},
                    "measurements": {"type": "array", "items": {"type": "object", "required": ["name", "value", "unit"]}},
                }}}}})
        self.assertEqual(len(t4["results"]), sum(c["status"] != "not_measured" for c in own))
        first = next(r for r in t4["results"] if r["configuration"].get("block") == 256)
        self.assertEqual(first["invalidity"], "correct")
        self.assertEqual(len(first["times"]["runtimes"]), 3)

        with open(exports / "histogram.csv", newline="") as stream:
            header = next(csv.reader(stream))
        self.assertEqual(header[: len(COLUMNS)], COLUMNS)
        self.assertEqual(header[-len(LAST):], LAST)
        self.assertEqual(len(set(header)), len(header))
        self.assertIn("problem_bytes", header)

    @unittest.skipUnless(COMPARE.exists(), "needs Debian's libbenchmark-tools")
    def test_google_benchmarks_own_tool_compares_two_exports(self):
        self.run_report("--no-page")
        before = self.output / "exports/test-gpu/histogram.benchmark.json"
        after = self.output / "after.json"
        changed = json.loads(before.read_text())
        for benchmark in changed["benchmarks"]:
            factor = 1.5 if "global_atomics" in benchmark["name"] else 1
            benchmark["real_time"] *= factor
            benchmark["cpu_time"] *= factor
        after.write_text(json.dumps(changed))
        done = subprocess.run(["/usr/bin/python3", COMPARE, "--no-color", "benchmarks", before, after],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines() if re.search(r"[+-]\d\.\d{4}", line)}
        self.assertEqual(set(rows) - {"OVERALL_GEOMEAN"}, {b["name"] for b in changed["benchmarks"]})
        for name, change in rows.items():
            if "OVERALL" not in name:
                self.assertEqual(change, "+0.5000" if "global_atomics" in name else "+0.0000", name)

    def test_the_same_results_give_the_same_page(self):
        first = (self.output / "index.html").read_bytes()
        self.run_report()
        self.assertEqual(first, (self.output / "index.html").read_bytes())


class OtherResults(ReportCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.make_folders(temporary)

    def test_hostile_text_is_inert(self):
        cases = [case(reason=HOSTILE, status="wrong"), case(variant=HOSTILE), case(variant="sober", time=500.0)]
        cases += [case(variant=HOSTILE, problem=f"n={n}", time=500.0 + n, configuration=HOSTILE) for n in (1, 2, 4, 8)]
        folder = write_device(self.results, cases, name=HOSTILE)
        (folder / "selector.json").write_text(json.dumps({"histogram": {"leaves": HOSTILE, "regret_geomean": HOSTILE}}))
        (self.output / "exports/test-gpu/choices").mkdir(parents=True)
        (self.output / "exports/test-gpu/histogram.csv").write_text(to_csv(cases), encoding="utf-8")
        with open(self.output / "exports/test-gpu/choices/histogram.csv", "w", newline="") as choices:
            csv.writer(choices).writerows([CHOICES, ["histogram", "n=1", HOSTILE, HOSTILE, "1", "1", HOSTILE, "0", HOSTILE, "",
                                                     "0", "3", "0", HOSTILE]])
        (self.output / "exports/test-gpu/trees").mkdir()
        with open(self.output / "exports/test-gpu/trees/histogram.csv", "w", newline="") as tree:
            csv.writer(tree).writerows([TREE, ["0", HOSTILE, "0", HOSTILE, "1", "1", "1", "1", HOSTILE, HOSTILE]])
        done = self.run_page()
        page = self.page()
        self.assertEqual(page.tags.count("script"), 2)
        self.assertIn(HOSTILE, page.text)
        family = self.data()["test-gpu"]["families"]["histogram"]
        self.assertIn(HOSTILE, family["variants"])
        self.assertEqual(family["leaves"][0]["conditions"], HOSTILE)
        self.assertNotIn("1337", page.text)  # the template's language in the data is only text
        self.assertFalse([name for name, _ in page.attributes if name.startswith("on")])
        for path in self.output.rglob("*"):
            self.assertTrue(path.resolve().is_relative_to(self.output.resolve()))

    def test_characters_that_act_are_shown(self):
        acting = "gpu\x1b[31m \u202egnp\u2066 \x9b1m"
        cases = [case(reason=acting, status="wrong"), case(variant=acting), case()]
        folder = write_device(self.results, cases, name=acting)
        (self.output / "exports/test-gpu").mkdir(parents=True)
        (self.output / "exports/test-gpu/histogram.csv").write_text(to_csv(cases), encoding="utf-8")
        done = self.run_page()
        texts = {path.name: path.read_text(encoding="utf-8")
                 for path in self.output.rglob("*") if path.suffix == ".html"}
        self.assertIn("\\x1b[31m \\u202egnp", texts["index.html"])
        for name, text in (texts | {"stdout": done.stdout, "stderr": done.stderr}).items():
            self.assertIsNone(re.search("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), name)

    def test_the_tree_is_drawn(self):
        folder = write_device(self.results, sweep() + [case("convolution_2d", "global", "width=64;height=64")])
        write_tree(folder, "histogram", [
            {"feature": "bytes", "threshold": 65536, "left": 1, "right": 2},
            {"ranking": [("global_atomics", "blocks_per_sm=8")]},
            {"feature": "bytes", "threshold": 2e6, "left": 3, "right": 4},
            {"ranking": [("shared_atomics", "blocks_per_sm=2"), ("global_atomics", "blocks_per_sm=8")]},
            {"ranking": [("shared_atomics", "blocks_per_sm=8"), ("global_atomics", "blocks_per_sm=8")]},
        ])
        write_tree(folder, "convolution_2d", [{"feature": "border", "categories": ["zero", "mirror"], "left": 1, "right": 2},
                                              {"ranking": [("global", "default")]}, {"ranking": [("global", "default")]}])
        merit = {"regret_geomean": 1.001, "held_out": {"regret_geomean": 1.0123, "problems": 12}, "leaves": 3, "depth": 2}
        (folder / "selector.json").write_text(json.dumps({"families": {"histogram": merit}}))
        self.run_report()
        page = self.page()
        for text in ("bytes <= 65536", "bytes > 65536", "bytes <= 2000000", "border == zero or mirror", "border != zero or mirror",
                     "n = 6, next variant 1.50×, regret 1.010 [1.000, 1.030]"):
            self.assertIn(text, page.text)
        self.assertIn("shared_atomics [blocks_per_sm=8]", page.text)
        self.assertIn("1.012", page.text)  # of the held-out problems, not of the training
        self.assertEqual([value for name, value in page.attributes if name == "data-leaf"], ["0", "1", "0", "1", "2"])
        write_tree_text(folder, "histogram", "x")
        self.assertIn("a tree is not loaded: ", self.run_report().stderr)
        self.assertIn("No tree of these results is here", self.page().text)

    def test_says_what_is_missing(self):
        self.assertIn("measure first with espalier sweep", self.run_report(expect=4).stderr)
        self.results.rmdir()
        self.assertIn("measure first with espalier sweep", self.run_report(expect=4).stderr)
        write_device(self.results, sweep())
        self.assertIn("no results of moon, only of test-gpu", self.run_report("--device", "moon", expect=4).stderr)

    def test_one_damaged_file_hides_nothing_else(self):
        folder = write_device(self.results, sweep())
        (folder / "selector.json").write_text("[" * 100000)
        self.run_report("--no-page")
        (self.output / "exports/test-gpu/dot.csv").write_text("family,variant\ndot,x\n")
        self.run_page()
        page = self.page()
        self.assertIn("dot.csv: no table of this kind: 'role'", page.text)
        self.assertIn("selector.json: not JSON", page.text)
        self.assertIn("shared_atomics", page.text)

    def test_results_without_a_single_success(self):
        write_device(self.results, [case(status="unsupported", reason="needs a GPU")])
        self.run_report()
        page = self.page()
        self.assertIn("No case of this family is ok", page.text)
        self.assertIn("needs a GPU", page.text)
        self.assertEqual(self.data()["test-gpu"]["families"], {})

    def test_a_single_problem_and_a_cloud_of_them(self):
        write_device(self.results, [case("dot", "host_finish", "n=16", 5000.0)])
        cloud = [case("dot", "host_finish", f"m={i * 7 % 11};n={i * i + 1}", 5000.0 + i, device="other-gpu")
                 for i in range(1, 10)]
        write_device(self.results, cloud, key="other-gpu")
        self.run_report()
        self.assertEqual(len(self.data()["other-gpu"]["families"]["dot"]["grid"]["best"]), 9)

    def test_published_figures_stand_beside_ours(self):
        features = [{"name": "dims", "value": 10.0}]
        key = "queries=10000;points=10000;dims={};metric=euclidean;missing=none"
        cases = [case("distance", "global", key.format(d), 1e6 * d, features=features) for d in (10, 30, 50)]
        # Faster, but of other bytes and other blocks than H1's heading names.
        for distribution, blocks, time in (("uniform", 2, 613e3), ("uniform", 8, 217e3), ("constant", 2, 331e3)):
            cases.append(case("histogram", "shared_atomics", f"bytes=104857600;distribution={distribution}", time,
                              f"blocks_per_sm={blocks}"))
        write_device(self.results, cases)
        (self.results / "published").mkdir()
        tables = REPOSITORY / "results/published/tables.json"
        (self.results / "published/tables.json").write_bytes(tables.read_bytes())
        self.run_report()
        text = self.page().text
        self.assertIn("K1: Bandwidth reached by two distance kernels", text)
        self.assertIn("20.07", text)  # as printed
        self.assertIn("global: ms1030", text.replace("\n", ""))  # as measured here
        section = text[text.index("H1: "):text.index("P1: ")]
        self.assertIn("0.613", section)
        self.assertNotIn("0.217", section)
        self.assertNotIn("0.331", section)
        self.assertIn("shared_atomics: times as fast as printed–24.47", section)
        (self.results / "published/tables.json").write_text('{"tables": [{"id": 3}]}')
        self.run_report()
        self.assertIn("not a table of published figures", self.page().text)

    def test_published_alone_is_a_page_of_its_own(self):
        key = "bytes=104857600;distribution=uniform"
        write_device(self.results, [case("histogram", "shared_atomics", key, 613e3, "blocks_per_sm=2")])
        done = self.run_report("--published", expect=4)
        self.assertIn("published/tables.json", done.stderr)
        self.assertFalse((self.output / "published.html").exists())
        (self.results / "published").mkdir()
        for name in ("tables", "counterparts"):
            copied = (REPOSITORY / f"results/published/{name}.json").read_bytes()
            (self.results / f"published/{name}.json").write_bytes(copied)
        done = self.run_report("--published", "--json")
        self.assertEqual(json.loads(done.stdout), {"page": str(self.output / "published.html"),
                                                   "exports": [str(self.output / "exports/test-gpu/histogram.csv")]})
        self.assertFalse((self.output / "index.html").exists())
        page = Page((self.output / "published.html").read_text(encoding="utf-8"))
        self.assertEqual(page.problems, [])
        p1 = page.text[page.text.index("P1: "):page.text.index("S1: ")]
        self.assertIn("Not measured on these devices", p1)
        self.assertNotIn("One query.", p1)  # which is said of what was measured
        self.assertIn("0.613", page.text)
        self.assertNotIn("script", page.tags)
        self.run_report("--published", "--no-page", expect=2)

    def test_what_the_suite_measured_replaces_what_a_sweep_did(self):
        key = "bytes=104857600;distribution={}"
        write_device(self.results, [case("histogram", "shared_atomics", key.format("uniform"), 400e3, "blocks_per_sm=2")])
        (self.results / "published").mkdir()
        write_device(self.results / "published", [case("histogram", "shared_atomics", key.format("uniform"), 613e3,
                                                       "blocks_per_sm=2")])  # slower, and of the suite's own run
        tables = REPOSITORY / "results/published/tables.json"
        (self.results / "published/tables.json").write_bytes(tables.read_bytes())
        self.run_report("--published")
        text = (self.output / "published.html").read_text(encoding="utf-8")
        self.assertIn("0.613", text)
        self.assertNotIn("<td class=\"n\">0.4</td>", text)

    def test_commands_stand_beside_printed_files_and_copies(self):
        folder = write_device(self.results, [case()])
        (self.results / "published").mkdir()
        for name in ("tables", "counterparts"):
            copied = (REPOSITORY / f"results/published/{name}.json").read_bytes()
            (self.results / f"published/{name}.json").write_bytes(copied)
        run = {"name": "knn", "rows": 500000, "exit_code": 0, "seconds": 1.25, "file_bytes": 160e6,
               "peak_resident_bytes": 320e6}
        copies = {f"{kind}_{way}": 9e9 for kind in ("pageable", "pinned") for way in ("to_device", "to_host")}
        (folder / "applications.json").write_text(json.dumps({"runs": [run], "device": {"copies": copies}}))
        self.run_report("--published")
        text = Page((self.output / "published.html").read_text(encoding="utf-8")).text
        self.assertRegex(text[text.index("K14: "):text.index("H1: ")], "start to end: s[–\\n]*1.25")
        self.assertIn("pinned, GB/s", text[text.index("S3: "):text.index("S4: ")])
        (folder / "applications.json").write_text("[]")
        self.run_report("--published")
        self.assertNotIn("start to end", (self.output / "published.html").read_text(encoding="utf-8"))

    def test_choices_are_the_programs(self):
        """Of the tree in the results, for swept and unseen problems, as `espalier judge` grades them."""
        problems = {2**e: f"bytes={2**e};distribution=uniform" for e in (10, 12, 20, 21)}
        kinds = {"shared_atomics": ("blocks_per_sm=2", 20), "global_atomics": ("blocks_per_sm=8", 10)}

        def timed(variant: str, size: int) -> dict:
            configuration, rate = kinds[variant]
            return case(problem=problems[size], variant=variant, configuration=configuration, time=size / rate,
                        features=[{"name": "bytes", "value": float(size)}])

        folder = write_device(self.results, [timed(variant, size) for variant in kinds for size in (2**10, 2**20)])
        unseen = [timed("global_atomics", 2**12), timed("global_atomics", 2**21), timed("shared_atomics", 2**21)]
        (folder / "unseen").mkdir()
        (folder / "unseen/device.json").write_text((folder / "device.json").read_text())
        (folder / "unseen/histogram.jsonl").write_text("".join(sealed("case", one) for one in unseen))
        write_tree(folder, "histogram", [{"feature": "bytes", "threshold": 65536, "left": 1, "right": 2},
                                         {"ranking": [("shared_atomics", "blocks_per_sm=2"), ("global_atomics", "blocks_per_sm=8")]},
                                         {"ranking": [("global_atomics", "blocks_per_sm=8")]}])
        merit = {"regret_geomean": 1.0, "unseen": {"regret_geomean": 1.25, "problems": 1, "unjudged": 1}}
        (folder / "selector.json").write_text(json.dumps({"families": {"histogram": merit}}))
        self.run_report()
        family = self.data()["test-gpu"]["families"]["histogram"]
        self.assertEqual([leaf["conditions"] for leaf in family["leaves"]], ["bytes <= 65536", "bytes > 65536"])
        self.assertEqual([(leaf["drawn"], leaf["device"], leaf["problems"]) for leaf in family["leaves"]],
                         [(0, "test-gpu", 6), (1, "test-gpu", 6)])
        picks = [(family["variants"][pick[0]], *pick[2:]) for part in ("grid", "unseen") for pick in family[part]["pick"]]
        self.assertEqual(picks, [("shared_atomics", 51.2, 0), ("global_atomics", digits(2**20 / 10), 1),
                                 ("shared_atomics", None, 0, "the pick has no record"),
                                 ("global_atomics", digits(2**21 / 10), 1)])
        self.assertEqual([family[part]["regret"] for part in ("grid", "unseen")], [[1, 2], [None, 2]])
        self.assertIn("1.250", self.page().text)

    def test_counters_explain(self):
        features = [{"name": "bytes", "value": 1024.0}]
        cases = [case(features=features), case(variant="shared_atomics", time=500.0, features=features)]
        cases[0]["counters"] = {"dram__bytes_read.sum": 1024.0, "dram__bytes_write.sum": 1024.0,
                                "lts__t_sector_hit_rate.pct": 12.345, "unknown__thing.sum": 7.0}
        write_device(self.results, cases)
        self.run_report()
        grid = self.data()["test-gpu"]["families"]["histogram"]["grid"]
        self.assertEqual([label for label, _, _ in grid["counted"]], ["DRAM traffic / least", "L2 hits"])
        self.assertEqual(grid["counters"], [[[1, 2, 12.3]]])

    @unittest.skipUnless(CHROMIUM, "needs chromium")
    def test_only_counters_of_the_fastest_say_why(self):
        def why(counted: dict[str, str]) -> str:
            features = [{"name": "bytes", "value": 1024.0}]
            times = {"global_atomics": 1000.0, "shared_atomics": 500.0, "warp_atomics": 400.0}
            cases = [case(variant=variant, time=time, features=features) for variant, time in times.items()]
            for one in cases:
                if one["variant"] in counted:
                    one["counters"] = {"lts__t_sector_hit_rate.pct": float(counted[one["variant"]])}
            write_device(self.results, cases)
            self.run_report()
            done = subprocess.run([CHROMIUM, *HEADLESS, (self.output / "index.html").as_uri()], capture_output=True, text=True,
                                  timeout=120)
            if "</html>" not in done.stdout:
                self.skipTest(f"chromium does not start on this machine: {done.stderr[-300:]}")
            view = done.stdout[done.stdout.index("Hardware counters"):done.stdout.index("The nearest measured problems")]
            return html.unescape(re.sub("<[^>]*>", " ", view))

        of_others = why({"global_atomics": "90", "shared_atomics": "10"})
        self.assertIn("No counters were taken of warp_atomics.", of_others)
        self.assertNotIn("No counters were taken", why({"global_atomics": "20", "warp_atomics": "80"}))

    @unittest.skipUnless(NODE, "needs node")
    def test_the_form_looks_up_and_estimates_nothing(self):
        cases = []
        for n in (2**e for e in range(10, 21)):
            for name, time in (("atomic_float", 0.1 * n), ("host_finish", 2000 + 0.02 * n)):
                cases.append(case("dot", name, f"elements={n}", time, "blocks_per_sm=8", features=[{"name": "elements", "value": float(n)}]))
        # Nobody is beaten where one variant alone was timed.
        cases.append(case("dot", "host_finish", "elements=3000", 1000.0, "blocks_per_sm=8", features=[{"name": "elements", "value": 3000.0}]))
        folder = write_device(self.results, cases)
        write_tree(folder, "dot", [{"feature": "elements", "threshold": 25000, "left": 1, "right": 2},
                                   {"ranking": [("atomic_float", "blocks_per_sm=8")]},
                                   {"ranking": [("host_finish", "blocks_per_sm=8"), ("atomic_float", "blocks_per_sm=8")]}])
        self.run_report()
        scripts = "".join((REPOSITORY / f"plots/page/{name}.js").read_text() for name in ("dom", "model", "lookup"))
        done = subprocess.run([NODE, "-"], input=scripts + """
            const family = readFamily(DATA, "dot");
            const ask = (n) => answer(family, new Map([["elements", n]]));
            console.log(JSON.stringify({
              sizes: [family.problems.length, family.all.length],
              levels: [2 ** 10, 2 ** 20, 2950, 3000].map((n) => level(ask(n))),
              near: ask(2950).near[0].problem.values.get("elements"),
              leaves: [2 ** 10, 2 ** 20].map((n) => ask(n).exact.pick.leaf.conditions),
              command: command(family, "test-gpu", new Map([["elements", 300000]])),
              hostile: command(family, "test-gpu", new Map([["elements", "$(x)'"]])),
            }));""".replace("DATA", json.dumps(self.data()["test-gpu"]["families"]["dot"])), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["sizes"], [11, 12])
        self.assertIn("host_finish</th><td class=\"muted\">documented</td><td class=\"n best\">6</td>", self.text())
        self.assertEqual(found["levels"], ["sure", "sure", "unmeasured", "alone"])
        self.assertEqual(found["near"], 4096)  # nearer by ratio than 2048, though not by difference
        self.assertEqual(found["leaves"], ["elements <= 25000", "elements > 25000"])
        self.assertEqual(shlex.split(found["hostile"])[-1], "elements=$(x)'")
        command = [self.program, *shlex.split(found["command"])[1:], "--results", str(self.results), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["problem"], "elements=300000")


if __name__ == "__main__":
    ReportCase.program = sys.argv.pop(1)
    unittest.main()
