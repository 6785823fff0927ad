"""What tests of the report share: results folders of any condition, the command over one, and its page taken apart."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib
from html.parser import HTMLParser
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

from records import sealed  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HEADLESS = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
COLUMNS = ("family,variant,role,status,reason,problem,configuration,time_ns,time_lo_ns,time_hi_ns,"
           "bytes,ops,gb_per_s,gop_per_s,roofline_share,regret").split(",")
LAST = "device,driver,build,session,cache,samples,disturbed".split(",")
DISTURBED = {"programs": {"foreign_cpu_share": 0.48, "processors": 2}, "guests": {"steal_cpu_share": 0.48, "processors": 2},
             "slow_processor": {"clock_share": 0.3}, "slow_gpu": {"sm_clock_mhz": 900, "disturbed_share": 0.9}, "": {}}
PROVENANCE = {"device_key": "", "driver": "580.1", "runtime": "13.0", "build": "0.1.0 test", "source_id": "ab12",
              "cache": "cold", "session": "2026-01-01T00:00:00Z"}


def write_tree(folder: Path, family: str, nodes: list[dict]) -> None:
    """As training would, for the device with results in `folder`. A leaf is one of `nodes` with a ranking, (variant,
    configuration) each; the nodes are in pre-order."""
    device = {"kind": "cuda", "sm": 90, "sm_count": 90, "shared_per_block": 49152, "l2_bytes": 2**30, "bytes_per_second": 1e12}
    written, leaves = [], 0
    for place, node in enumerate(nodes):
        if "ranking" in node:
            evidence = {"problems": 6, "margin": 1.5, "regret": 1.01, "regret_lo": 1.0, "regret_hi": 1.03}
            ranking = [{"variant": v, "configuration": c, "slowdown": 1.0} for v, c in node["ranking"]]
            node = {"leaf": leaves, **evidence, "ranking": ranking}
            leaves += 1
        written.append({"id": place, **node})
    text = json.dumps({"schema": "espalier.tree/2", "family": family, "device_key": folder.name, "device": device,
                       "data_sha256": "ab12", "nodes": written})[:-1]
    write_tree_text(folder, family, f'{text},\n "crc32": "{zlib.crc32(text.encode()):08x}"\n}}\n')


def write_tree_text(folder: Path, family: str, text: str) -> None:
    path = folder.parent / "selectors" / family / f"{folder.name}.tree"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def case(family="histogram", variant="global_atomics", problem="bytes=1024;distribution=uniform", time=1000.0,
         configuration="default", status="ok", reason="", role="documented", features=None, device="test-gpu",
         disturbed="", samples=3, spread=1.02) -> dict:
    """`spread`: the upper end of the time's interval over the time."""
    ok = status == "ok"
    return {"family": family, "variant": variant, "role": role, "problem": problem, "configuration": configuration,
            "status": status, "reason": reason, "verification": "oracle" if ok else "",
            "samples_ns": [time * (0.98, 1, 1.02)[i % 3] for i in range(samples)] if ok else [], "time_ns": time if ok else 0,
            "time_lo_ns": time * 0.98 if ok else 0, "time_hi_ns": time * spread if ok else 0, "bytes": 1024.0,
            "ops": 2048.0, "floor_ns": 100.0, "features": features or [{"name": "bytes", "value": 1024.0}],
            "conditions": DISTURBED[disturbed], "counters": {}, "counters_reason": "",
            "provenance": PROVENANCE | {"device_key": device}}


def sweep() -> list[dict]:
    """Two families, curves that cross, a variant that fails on each way of failing, one that never runs."""
    cases = []
    for exponent in range(10, 22, 2):
        size = 2**exponent
        for distribution in ("uniform", "constant"):
            problem = f"bytes={size};distribution={distribution}"
            features = [{"name": "bytes", "value": float(size)}]
            for block in (128, 256):
                cases.append(case(variant="shared_atomics", problem=problem, time=9000 + size / 9 + block,
                                  configuration=f"block={block}", features=features))
            cases.append(case(problem=problem, time=4000 + size / 2, role="baseline", features=features))
            cases.append(case(variant="peer_cub", problem=problem, time=8000 + size / 20, role="peer", features=features))
            for status in ("wrong", "crashed", "timeout", "out_of_memory", "unsupported", "not_measured"):
                cases.append(case(variant="unlucky", problem=problem, status=status, configuration=f"as={status}",
                                  reason=f"because of {status}", features=features))
    for n in (16, 64, 256):
        cases.append(case("dot", "host_finish", f"n={n}", 2000 + n, features=[{"name": "n", "value": float(n)}]))
    return cases


def to_csv(cases: list[dict]) -> str:
    """As an export that nothing checked: records with such text no program writes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    features = list(dict.fromkeys(f["name"] for c in cases for f in c["features"]))
    writer.writerow(COLUMNS + [f"problem_{name}" if name in COLUMNS + LAST else name for name in features] + LAST)
    for c in cases:
        t = c["time_ns"]
        measured = [t, c["time_lo_ns"], c["time_hi_ns"], c["bytes"], c["ops"], c["bytes"] / t, c["ops"] / t,
                    c["floor_ns"] / t, 1.0] if c["status"] == "ok" else ["", "", "", c["bytes"], c["ops"], "", "", "", ""]
        values = {f["name"]: f["value"] for f in c["features"]}
        cause = next(name for name, conditions in DISTURBED.items() if conditions == c["conditions"])
        last = [c["provenance"][name] for name in ("device_key", "driver", "build", "session", "cache")]
        last += [len(c["samples_ns"]) or "", cause if c["status"] == "ok" else ""]
        writer.writerow([c[name] for name in COLUMNS[:7]] + measured + [values.get(name, "") for name in features] + last)
    return out.getvalue()


def write_device(results: Path, cases: list[dict], key: str = "test-gpu", name: str = "Test GPU") -> Path:
    folder = results / key
    folder.mkdir(parents=True, exist_ok=True)
    device = {"kind": "cuda", "key": key, "name": name, "emulated": False}
    device |= dict.fromkeys(("memory_bytes", "l2_bytes"), 2**30)
    device |= dict.fromkeys(("bytes_per_second", "cached_bytes_per_second", "fp32_per_second", "int_per_second"), 1e12)
    device |= {"threads": 4, "microarchitecture": "zen4", "nominal_bytes_per_second": 0.0}
    device |= dict.fromkeys(("avx2", "fma", "avx512", "avx512_vnni", "neon"), False)
    device |= dict.fromkeys(
        ("sm", "sm_count", "clock_khz", "max_threads_per_sm", "registers_per_sm", "shared_per_block",
         "shared_per_block_optin", "shared_per_sm", "constant_bytes", "texture_1d_linear_floats", "texture_2d_width",
         "texture_2d_height", "texture_2d_pitch", "texture_pitch_alignment"), 90)
    device |= {"max_threads_per_sm": 2048, "registers_per_sm": 2**16, "shared_per_block": 49152,
               "shared_per_block_optin": 49152, "shared_per_sm": 2**16}
    (folder / "device.json").write_text(sealed("device", device))
    for family in {c["family"] for c in cases}:
        own = [c for c in cases if c["family"] == family]
        (folder / f"{family}.jsonl").write_text("".join(sealed("case", c) for c in own), encoding="utf-8")
    return folder


class Page(HTMLParser):
    """The tags, attributes and text of a page, and whether its elements nest."""

    VOID = {"meta", "br", "img", "link", "input", "hr"}
    ENDS = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr"), "/tr": ("td", "th"), "/tbody": ("td", "th", "tr")}

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.attributes, self.text, self.open, self.problems = [], [], "", [], []
        self.feed(text)
        self.problems += [f"<{tag}> is never closed" for tag in self.open]

    def end_implied(self, tag):
        """Cells and rows end where the next begins, or their table's part does."""
        while self.open and self.open[-1] in self.ENDS.get(tag, ()):
            self.open.pop()

    def handle_starttag(self, tag, attributes):
        self.end_implied(tag)
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        self.end_implied(f"/{tag}")
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes nothing")

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.text += data


class ReportCase(unittest.TestCase):
    """A results folder, the command over it and the page that it wrote."""

    program = ""  # espalier

    def make_folders(self, temporary: tempfile.TemporaryDirectory) -> None:
        self.results, self.output = Path(temporary.name) / "results", Path(temporary.name) / "report"
        self.results.mkdir()

    def run_report(self, *options: str, expect: int = 0) -> subprocess.CompletedProcess:
        command = [self.program, "report", "--results", str(self.results), "-o", str(self.output), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def run_page(self, *options: str, expect: int = 0) -> subprocess.CompletedProcess:
        """The page alone, of the exports as they are now."""
        done = subprocess.run(["/usr/bin/python3", str(REPOSITORY / "plots/report.py"), "--results", str(self.results),
                               "--exports", str(self.output / "exports"), "--output", str(self.output), *options],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def text(self) -> str:
        return (self.output / "index.html").read_text(encoding="utf-8")

    def data(self) -> dict:
        """What the page's scripts draw from."""
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', self.text(), re.S)[1])

    def page(self) -> Page:
        page = Page((self.output / "index.html").read_text(encoding="utf-8"))
        self.assertEqual(page.problems, [])
        identities = [value for name, value in page.attributes if name == "id"]
        self.assertEqual(len(identities), len(set(identities)), "an identifier occurs twice")
        return page
