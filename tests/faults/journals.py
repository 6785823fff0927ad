"""Rows 5, 6, 9, 10, 16, 17 and 18: what stands in a file of records."""

import base64
import copy
import hashlib
import html.parser
import json
import re
import resource
import shutil
import subprocess
from pathlib import Path

from injection import Machine, Outcome, key, only, records, run, sealed, small_journal

BATCH = 2000  # files that one process reads: starting one for each would take longer than reading


def verified(machine: Machine, damaged: dict[int, bytes]) -> dict[int, dict]:
    """What `espalier verify` says of each of these journals."""
    answers = {}
    numbers = list(damaged)
    for start in range(0, len(numbers), BATCH):
        with machine.folder() as folder:
            for number in numbers[start:start + BATCH]:
                (folder / f"{number}.jsonl").write_bytes(damaged[number])
            done = run([machine.espalier, "verify", "--json", folder], 300)
            if done.code not in (0, 4):
                raise AssertionError(str(done))
            for answer in json.loads(done.out):
                answers[int(Path(answer["path"]).stem)] = answer
    return answers


def row_5(machine: Machine) -> Outcome:
    """A journal truncated at every byte."""
    outcome = Outcome()
    with machine.folder() as folder:
        whole = small_journal(machine, folder).read_bytes()
    step = machine.times(1, 7)
    cuts = {length: whole[:length] for length in range(1, len(whole) + 1, step)}
    for length, answer in verified(machine, cuts).items():
        # A record is complete with its closing brace, whether or not its newline made it.
        complete = whole[:length].count(b"\n") + (whole[length:length + 1] == b"\n")
        rest = length - (whole[:length].rfind(b"\n") + 1)
        reported = bool(answer["findings"]) == (rest > 0 and whole[length:length + 1] != b"\n")
        outcome.records_lost += max(0, complete - answer["records"])
        outcome.count(answer["records"] == complete and reported, f"cut at byte {length}: {answer}")
    return outcome


def row_6(machine: Machine) -> Outcome:
    """Random bit flips in a journal."""
    outcome = Outcome()
    with machine.folder() as folder:
        whole = small_journal(machine, folder).read_bytes()
    lines = whole.count(b"\n")
    flipped = {}
    for number in range(machine.times(20_000, 2000)):
        changed = bytearray(whole)
        changed[machine.random.randrange(len(whole))] ^= 1 << machine.random.randrange(8)
        flipped[number] = bytes(changed)
    for number, answer in verified(machine, flipped).items():
        # What is left of a journal with one flipped bit: all but the record that it hit, or the two beside a newline.
        outcome.records_lost += max(0, lines - 2 - answer["records"])
        outcome.count(lines - 2 <= answer["records"] < lines and bool(answer["findings"]), f"flip {number}: {answer}")
    return outcome


def row_9(machine: Machine) -> Outcome:
    """Sixty writers at once."""
    outcome = Outcome()
    writers = machine.times(60, 12)
    with machine.folder() as folder:
        journal = small_journal(machine, folder, 1)
        expected = {key(case) for case in records(journal)}
        children = []
        for writer in range(writers):
            seeds = [1000 + 2 * writer, 1001 + 2 * writer]
            arguments = machine.sweep_arguments(folder, "--variant", "right,right_baseline", "-p", "size=100", "-p",
                                                f"seed={seeds[0]},{seeds[1]}", "--resume", "--no-merge", "--quiet")
            children.append(subprocess.Popen([machine.faulty, *arguments], stdin=subprocess.DEVNULL))
            expected |= {f"faulty/{choice}" for seed in seeds for choice in
                         (f"right|size=100;seed={seed}|block=1", f"right|size=100;seed={seed}|block=2",
                          f"right_baseline|size=100;seed={seed}|default")}
        codes = [child.wait(timeout=600) for child in children]
        found = [key(case) for case in records(journal)]
        whole = run([machine.espalier, "verify", journal])
        outcome.records_lost += len(expected - set(found))
        for writer, code in enumerate(codes):
            mine = {name for name in expected if re.search(rf"seed=({1000 + 2 * writer}|{1001 + 2 * writer})\|", name)}
            outcome.count(code == 0 and whole.code == 0 and mine <= set(found) and len(found) == len(set(found)),
                          f"writer {writer}: exit code {code}; {whole}")
    return outcome


# --- records that somebody else may have written ------------------------------------------------------------------


def foreign(journal: Path, change=lambda device, cases: None) -> str:
    """The journal as somebody else would have sent it: changed, and sealed again."""
    device, cases = records(journal, "device")[0], records(journal)
    change(device, cases)
    return "".join([sealed("device", device), *(sealed("case", case) for case in cases)])


def measured_again(source: Path, to: Path, session: str) -> Path:
    """Results of a device, or a journal, as of another session and of a quiet machine: `compare` wants two of them."""
    def change(_, cases):
        for case in cases:
            case["provenance"]["session"], case["conditions"] = session, {}

    if source.is_file():
        to.write_text(foreign(source, change))
        return to
    if to != source:
        shutil.copytree(source, to)
    cases = records(to / "faulty.jsonl")
    change(None, cases)
    (to / "faulty.jsonl").write_text("".join(sealed("case", case) for case in cases))
    return to


def row_10(machine: Machine) -> Outcome:
    """Journals of different devices, drivers, builds or cache modes mixed."""
    def every(name: str, value: str):
        def change(_, cases):
            for case in cases:
                case["provenance"][name] = value
        return change

    def another_machine(device, _):
        device["name"] = "Another processor"

    def another_key(device, cases):
        device["key"] = "cpu-other-9t"
        every("device_key", "cpu-other-9t")(device, cases)

    outcome = Outcome()
    with machine.folder() as folder:
        journal = small_journal(machine, folder)
        only_first = foreign(journal, lambda _, cases: cases.__delitem__(slice(3, None)))
        mixtures = {"driver": every("driver", "Linux 1.0"), "runtime": every("runtime", "GNU 1.0"),
                    "build": every("build", "espalier 0.0.1"), "cache": every("cache", "cold"),
                    "machine": another_machine}
        for what, change in mixtures.items():
            pool = folder / what
            pool.mkdir()
            (pool / "a.jsonl").write_text(only_first)
            (pool / "b.jsonl").write_text(foreign(journal, lambda d, c: (c.__delitem__(slice(0, 3)), change(d, c))))
            done = run([machine.faulty, "merge", pool, "--results", pool / "results"])
            outcome.count(done.code == 4 and not list(pool.glob("results/*/*.jsonl")), f"{what}: {done}")
        apart = folder / "apart"
        apart.mkdir()
        (apart / "a.jsonl").write_text(foreign(journal))
        (apart / "b.jsonl").write_text(foreign(journal, another_key))
        done = run([machine.faulty, "merge", apart, "--results", apart / "results"])
        counts = [len(records(path)) for path in sorted(apart.glob("results/*/faulty.jsonl"))]
        outcome.count(done.code == 0 and counts == [6, 6], f"two devices: {counts}; {done}")
        # Mixed by hand, behind merge's back.
        mixed = only(apart / "results", "cpu-other-9t/faulty.jsonl")
        mixed.write_text(mixed.read_text() + foreign(journal).split("\n", 1)[1])
        for command in ("verify", "train"):
            where = [mixed.parent] if command == "verify" else ["--results", apart / "results", "--output", apart / "s"]
            done = run([machine.faulty, command, *where])
            outcome.count(done.code == 4, f"{command} of a folder of two devices: {done}")
    return outcome


def row_16(machine: Machine) -> Outcome:
    """A time of 0, negative, NaN or above the roofline."""
    def lie(**members):
        return lambda case: case.update(members)

    def beyond_roofline(case):
        case.update(bytes=1e15)

    lies = {"time 0": lie(time_ns=0), "time -1": lie(time_ns=-1.0), "sample 0": lie(samples_ns=[0.0, 1.0, 2.0]),
            "sample -1": lie(samples_ns=[-1.0, 1.0, 2.0]), "time NaN": lie(time_ns=float("nan")),
            "time infinite": lie(time_ns=float("inf")), "interval": lie(time_lo_ns=1e9),
            "beyond the roofline": beyond_roofline, "far below the floor": lie(floor_ns=1e12)}
    outcome = Outcome()
    with machine.folder() as folder:
        journal = small_journal(machine, folder, ceilings=True)
        for what, change in lies.items():
            place = folder / what.replace(" ", "-")
            place.mkdir()
            # The liar would win: it is the one that stands to gain.
            bad = foreign(journal, lambda _, cases: change(next(c for c in cases if c["variant"] == "right")))
            (place / "a.jsonl").write_text(bad)
            seen = run([machine.faulty, "verify", place / "a.jsonl"])
            merged = run([machine.faulty, "merge", place / "a.jsonl", "--results", place / "merged"])
            kept = sum(case["status"] != "not_measured" for path in place.glob("merged/*/faulty.jsonl")
                       for case in records(path))
            outcome.count(seen.code == 4, f"verify, {what}: {seen}")
            # What is no JSON is damage, which merge ends with 4 for.
            code = 4 if what in ("time NaN", "time infinite") else 0
            outcome.count(merged.code == code and kept == 5, f"merge, {what}: {kept} of 5 kept; {merged}")
            results = only(folder / "results", "*").name
            (place / "by-hand" / results).mkdir(parents=True)
            device, cases = bad.split("\n", 1)
            (place / "by-hand" / results / "device.json").write_text(device + "\n")
            (place / "by-hand" / results / "faulty.jsonl").write_text(cases)
            trained = run([machine.faulty, "train", "--results", place / "by-hand", "--output", place / "selectors"])
            written = list((place / "selectors").rglob("*.cpp"))
            outcome.wrong_choices += len(written)
            outcome.count(trained.code == 4 and not written, f"train, {what}: {trained}")
    return outcome


HOSTILE = ['"; system("x"); //', "}}; int main() { return 1; }", "*/ #error \"out\"", "??/\n#error", "a\nb\r\nc",
           "</td><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0", "@SUM(1+1)", "+1", "-1",
           "\x1b[31mred\x1b]0;title\x07", "\x9b31m", "../../../etc/passwd", "$(reboot)`reboot`", "\\write18{reboot}$x^2$",
           "%s%n%d", "{{ 7*191 }}", "\u202egnp.exe", "\x00", "x" * 5000]
TEXTS = ["reason", "counters_reason"]
PROVENANCE = ["driver", "runtime", "build", "session"]
NAMES = ["family", "variant", "role", "problem", "configuration", "verification", "status"]


def code_of(source: str) -> str:
    """Without comments, and without the digest of the data, which are not the same."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\b[0-9a-f]{64}\b", "", source, flags=re.S)


def row_17(machine: Machine) -> Outcome:
    """Hostile strings in a results file."""
    outcome = Outcome()
    with machine.folder() as folder:
        journal = small_journal(machine, folder)
        clean = {member: selector_of(machine, folder / f"clean-{member}",
                                     foreign(journal, lambda d, c: infect(d, c, member, "harmless")))
                 for member in (*TEXTS, *PROVENANCE, "name")}
        for index, text in enumerate(HOSTILE[::machine.times(1, 3)]):
            shown = repr(text[:30])
            for member in NAMES:
                bad = foreign(journal, lambda _, cases: cases[0].update({member: text}))
                (folder / "names.jsonl").write_text(bad, encoding="utf-8")
                done = run([machine.faulty, "verify", folder / "names.jsonl"])
                outcome.count(done.code == 4 and inert_on_terminal(done), f"{member} {shown}: {done}")
            for member in [*TEXTS, *PROVENANCE, "name"]:
                place = folder / f"{member}-{index}"
                selector = selector_of(machine, place, foreign(journal, lambda d, c: infect(d, c, member, text)))
                if selector is None:  # refused, and so inert
                    outcome.count(True, "")
                    continue
                # Comments may name the device and driver; what compiles is the same, byte for byte.
                same = code_of(selector) == code_of(clean[member])
                outcome.wrong_choices += not same
                outcome.count(same and inert_csv(place),
                              f"{member} {shown}: same selector: {same}, harmless CSV: {inert_csv(place)}")
        outcome.count(*inert_page(machine, folder, journal))
    return outcome


def infect(device: dict, cases: list[dict], member: str, text: str) -> None:
    for case in cases:
        if member in PROVENANCE:
            case["provenance"][member] = text
        elif member == "counters_reason":
            case[member] = text
    if member == "name":
        device["name"] = text
    if member == "reason":
        lost = copy.deepcopy(cases[0])  # a case that nobody learns from
        lost.update(status="unsupported", reason=text, samples_ns=[], verification="", variant="declines",
                    configuration="default")
        cases.append(lost)


def selector_of(machine: Machine, place: Path, journal: str) -> str | None:
    """What training makes of a journal; nothing if it was refused with exit code 4."""
    place.mkdir()
    (place / "a.jsonl").write_text(journal, encoding="utf-8")
    steps = [run([machine.faulty, "merge", place / "a.jsonl", "--results", place / "results"])]
    if steps[0].code == 0:
        steps.append(run([machine.faulty, "train", "--results", place / "results", "--output", place / "selectors"]))
    for done in steps:
        if done.code not in (0, 4) or not inert_on_terminal(done):
            raise AssertionError(f"{place.name}: {done}")
    written = list(place.glob("selectors/*/*.cpp"))
    return written[0].read_text(encoding="utf-8") if written else None


def inert_on_terminal(done) -> bool:
    return not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.out + done.err)


def inert_csv(place: Path) -> bool:
    import csv
    for path in place.glob("results/*/*.csv"):
        with open(path, newline="", encoding="utf-8") as stream:
            for row in csv.reader(stream):
                if any(re.match(r"[=+@]|-(?![\d.])", cell) or re.search(r"[\x00-\x1f]", cell) for cell in row):
                    return False
    return True


class Tags(html.parser.HTMLParser):
    """What could act in a page: its own script alone, which is the one that its policy names, may."""

    def __init__(self, text: str):
        super().__init__()
        self.active = False
        self.allowed: list[str] = []
        self.script: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.active |= tag in ("iframe", "object") or any(name.startswith("on") for name in given)
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.allowed += re.findall(r"'sha256-([^']+)'", given["content"])
        if tag == "script":
            self.script = []

    def handle_data(self, data):
        if self.script is not None:
            self.script.append(data)

    def handle_endtag(self, tag):
        if tag != "script":
            return
        text = "".join(self.script or [])
        self.script = None
        try:
            json.loads(text)  # data, which no browser runs
        except ValueError:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.active |= digest not in self.allowed


def inert_page(machine: Machine, folder: Path, journal: Path) -> tuple[bool, str]:
    """The report over a folder in which every text is hostile. One page for all: drawing takes its time."""
    def everywhere(device, cases):
        device["name"] = HOSTILE[5]
        template = copy.deepcopy(cases[0])
        for index, text in enumerate(HOSTILE):
            if "\0" in text or len(text) > 4000:
                continue
            case = copy.deepcopy(template)
            case.update(status="wrong", reason=text, samples_ns=[], verification="", counters_reason=text,
                        configuration=f"block={index}")
            cases.append(case)
    place = folder / "page"
    place.mkdir()
    (place / "a.jsonl").write_text(foreign(journal, everywhere), encoding="utf-8")
    merged = run([machine.faulty, "merge", place / "a.jsonl", "--results", place / "results"])
    done = run([machine.faulty, "report", "--results", place / "results", "--output", place / "report"], 300)
    if merged.code or done.code:
        return False, f"{merged}; {done}"
    text = (place / "report/index.html").read_text(encoding="utf-8")
    inside = all(path.resolve().is_relative_to((place / "report").resolve()) for path in (place / "report").rglob("*"))
    return (not Tags(text).active and "1337" not in text and inside and inert_csv(place)), "the page is not inert"


def row_18(machine: Machine) -> Outcome:
    """Bad JSON, and coverage-guided fuzzing of the reader under AddressSanitizer and UndefinedBehaviorSanitizer."""
    outcome = Outcome()
    with machine.folder() as folder:
        journal = small_journal(machine, folder)
        case = records(journal)[0]
        whole = sealed("case", case)
        device_line = sealed("device", records(journal, "device")[0])
        results = only(folder / "results", "*").name
        bad = {
            "deep arrays": "[" * 1_000_000, "deep objects": '{"a":' * 1_000_000,
            "deep in a sealed record": resealed(whole.replace('"reason":""', '"reason":' + "[" * 5000 + "]" * 5000)),
            "duplicate keys": resealed(whole.replace('"reason":""', '"reason":"","reason":""')),
            "1e999": resealed(whole.replace(f'"bytes":{case["bytes"]}', '"bytes":1e999')),
            "not UTF-8": whole.encode().replace(b'"reason":""', b'"reason":"\xc3\x28"'),
            "lone surrogate": resealed(whole.replace('"reason":""', '"reason":"\\ud800"')),
            "fractional index": sealed("plan", {"session": "1", "device_key": "x", "plan": "a", "shard": 1.5,
                                                "shards": 2, "items": []}),
            "huge index": sealed("plan", {"session": "1", "device_key": "x", "plan": "a", "shard": 1,
                                          "shards": 18446744073709551615, "items": []}),
            "null": "null\n", "nothing but zeros": b"\0" * 100_000, "an array": "[]\n", "a string": '"' + "x" * 100,
            "wrong types": sealed("case", case | {"samples_ns": {"0": 1}}), "unknown member": sealed("case", case | {"x": 1}),
            "unknown kind": sealed("spell", case), "newer schema": resealed(whole.replace("case/1", "case/9")),
        }
        files = {}
        for number, (what, content) in enumerate(bad.items()):
            files[what] = folder / f"bad-{number}.jsonl"
            files[what].write_bytes(content if isinstance(content, bytes) else content.encode())
        size = machine.times(1 << 30, 64 << 20)
        for what, byte in (("one line of a gigabyte", b"["), ("millions of damaged lines", b"\n{}")):
            files[what] = folder / f"{byte[-1]}.jsonl"
            with open(files[what], "wb") as stream:
                block = byte * ((1 << 20) // len(byte))
                for _ in range(size >> (20 if len(byte) == 1 else 24)):  # damage is slow to tell
                    stream.write(block)
        for what, path in files.items():
            done = run([machine.espalier, "verify", "--quiet", path], 300)
            outcome.count(done.code == 4 and done.peak_mib < 1024, f"verify, {what}: {done.peak_mib:.0f} MiB; {done}")
            if path.stat().st_size > 20 << 20:
                path.unlink()
                continue
            home = folder / f"home-{path.stem}" / results
            home.mkdir(parents=True)
            (home / "device.json").write_text(device_line)
            path.rename(home / "faulty.jsonl")
            for command in (["train", "--output", home / "s", "--results"],
                            ["report", "--no-page", "--output", home / "r", "--results"]):
                done = run([machine.faulty, *command, home.parent])
                outcome.count(done.code == 4, f"{command[0]}, {what}: {done}")
            (home / "device.json").write_bytes((home / "faulty.jsonl").read_bytes())
            done = run([machine.faulty, "report", "--no-page", "--output", home / "r", "--results", home.parent])
            outcome.count(done.code == 4, f"device.json, {what}: {done}")
    fuzz(machine, outcome)
    return outcome


def resealed(line: str) -> str:
    import zlib
    covered = line[:line.rindex(',"crc32"')]
    return f'{covered},"crc32":"{zlib.crc32(covered.encode()):08x}"}}\n'


def fuzz(machine: Machine, outcome: Outcome) -> None:
    seconds = machine.times(600, 10)
    with machine.folder() as folder:
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, line in enumerate(small_journal(machine, folder).read_text().splitlines()):
            (corpus / str(number)).write_text(line)
        done = run([machine.program("records_fuzz"), f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
                    "-max_len=65536", "-seed=1", "-print_final_stats=1", corpus], seconds + 120, folder=folder)
        executed = re.search(r"number_of_executed_units: (\d+)", done.err)
        runs = int(executed[1]) if executed else 1
        outcome.count(done.code == 0 and executed is not None, f"fuzzing: {done}", runs)


ROWS = {5: row_5, 6: row_6, 9: row_9, 10: row_10, 16: row_16, 17: row_17, 18: row_18}
