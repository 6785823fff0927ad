"""Rows 26, 27 and 28: what commands write, where it goes, and what a signal leaves of it."""

import hashlib
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from injection import Finished, Machine, Outcome, only, run, small_journal
from journals import measured_again

LISTENED_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# --- small inputs for every command ------------------------------------------------------------------------------


def png(width: int, height: int) -> bytes:
    """A grey image of noise, written without the code under test."""
    pixels = random.Random(1)
    rows = b"".join(b"\0" + pixels.randbytes(width) for _ in range(height))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def table(rows: int) -> str:
    numbers = random.Random(2)
    lines = ["x,y,class"]
    for _ in range(rows):
        x, y = numbers.random(), numbers.random()
        lines.append(f"{x:.6f},{y:.6f},{'above' if y > x else 'below'}")
    return "\n".join(lines) + "\n"


def place_inputs(machine: Machine, folder: Path) -> None:
    """A table, an image, a filter, a seismic record, a journal and what is merged from it."""
    (folder / "a.csv").write_text(table(4000))
    (folder / "b.csv").write_text(table(1000))
    (folder / "a.png").write_bytes(png(1200, 900))
    (folder / "filter.txt").write_text("0 " * 24 + "1\n")
    done = run([machine.espalier, "synthesize", folder / "record", "--quiet", "--receivers", "100", "--duration", "8s",
                "--file-length", "4s", "--grid", "8x8x8"])
    if done.code:
        raise AssertionError(f"no record to locate: {done}")
    (folder / "times.f32").write_bytes(struct.pack("<f", 0.25) * 512 * 100)
    small_journal(machine, folder)


# --- row 26: an output that names an input -----------------------------------------------------------------------


def contents(folder: Path) -> dict[str, str]:
    """Every file's hash and every link's target, so that whatever changes is seen."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink()
            else hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()}


def names_of(path: Path) -> Iterator[str]:
    """The file under its own name, another spelling, a symbolic and a hard link, and through a linked folder."""
    symbolic = path.with_name("symbolic" + path.suffix)
    hard = path.with_name("hard" + path.suffix)
    linked = path.parent / "linked"
    symbolic.symlink_to(path.name)
    os.link(path, hard)
    linked.symlink_to(".")
    yield from map(str, (path, path.parent / "linked" / ".." / path.parent.name / path.name, symbolic, hard,
                         linked / path.name))
    for link in (symbolic, hard, linked):
        link.unlink()


def row_26(machine: Machine) -> Outcome:
    """Every command that writes is told to write over each of its inputs, under every name that they have."""
    outcome = Outcome()
    with machine.folder() as folder:
        place_inputs(machine, folder)
        record = folder / "record"
        locate = ["locate", record / "record.json", "--quiet", "--grid", "8x8x8"]
        by_speed, by_times = [*locate, "--velocity", "3000"], [*locate, "--travel-times", folder / "times.f32"]
        two = ["knn", "--quiet", "--train", folder / "a.csv", "--test", folder / "b.csv"]
        commands = [
            (folder / "a.csv", ["knn", "--quiet", "--data", folder / "a.csv", "-o"]),
            (folder / "a.csv", [*two, "-o"]), (folder / "b.csv", [*two, "-o"]),
            (folder / "a.png", ["convolve", "--quiet", folder / "a.png"]),
            (record / "record-00001.f32", [*by_speed, "--cube"]), (record / "record-00000.f32", [*by_speed, "-o"]),
            (record / "record.json", [*by_speed, "-o"]), (record / "receivers.csv", [*by_speed, "--cube"]),
            (folder / "times.f32", [*by_times, "--cube"]),
        ]
        for path, command in commands:
            for name in names_of(path):
                refused(machine, outcome, folder, [*command, name])
        shutil.copy(folder / "filter.txt", folder / "filter.png")
        refused(machine, outcome, folder, ["convolve", "--quiet", folder / "a.png", folder / "filter.png", "--kernel",
                                           folder / "filter.png"])
        refused(machine, outcome, folder, [*by_speed, "-o", folder / "new", "--cube", record / ".." / "new"])
        refused(machine, outcome, folder, ["synthesize", record, "--quiet", "--duration", "1s", "--receivers-file",
                                           record / "receivers.csv"])
        appended(machine, outcome, folder)
        led_back(machine, outcome, folder)
    return outcome


def refused(machine: Machine, outcome: Outcome, folder: Path, command: list, program: Path | None = None) -> None:
    before = contents(folder)
    done = run([program or machine.espalier, *command])
    outcome.count(done.code == 2 and "name another file" in done.err and contents(folder) == before,
                  f"{' '.join(map(str, command))}: {done}")


def appended(machine: Machine, outcome: Outcome, folder: Path) -> None:
    """A shell appends to the input what the command prints."""
    for command in (["knn", "--data"], ["histogram"]):
        before = contents(folder)
        with open(folder / "a.csv", "ab") as stream:
            done = subprocess.run([machine.espalier, *command, folder / "a.csv"], stdout=stream, stderr=subprocess.PIPE)
        outcome.count(done.returncode == 2 and contents(folder) == before,
                      f"{command[0]} >> its input: exit code {done.returncode}")


def led_back(machine: Machine, outcome: Outcome, folder: Path) -> None:
    """Links lead from the folders that merge, train and report write to back to what they read."""
    results = only(folder / "results", "*")
    journal = only(folder / "journal", "*.jsonl")
    places = {
        "merge": (folder / "m" / results.name / "faulty.jsonl", journal,
                  ["merge", journal, "--results", folder / "m"]),
        "train": (folder / "s" / "faulty" / f"{results.name}.tree", results / "faulty.jsonl",
                  ["train", "--results", folder / "results", "--output", folder / "s"]),
        "train --matrices": (folder / "x" / results.name / "faulty.json", results / "device.json",
                             ["train", "--results", folder / "results", "--output", folder / "t", "--matrices",
                              folder / "x"]),
        "report": (folder / "r" / "exports" / results.name / "faulty.csv", results / "faulty.jsonl",
                   ["report", "--no-page", "--results", folder / "results", "--output", folder / "r"]),
    }
    for output, target, command in places.values():
        output.parent.mkdir(parents=True)
        for link in (output.symlink_to, output.hardlink_to):
            link(target)
            refused(machine, outcome, folder, command, machine.faulty)
            output.unlink()


# --- row 27: a full disk or nobody behind stdout -----------------------------------------------------------------


def row_27(machine: Machine) -> Outcome:
    """stdout on a full disk, on a pipe that nobody reads, and closed."""
    outcome = Outcome()
    with machine.folder() as folder:
        place_inputs(machine, folder)
        for program, command in printing_commands(machine, folder):
            whole = run([program, *command], 300)
            if whole.code or not whole.out:
                outcome.count(False, f"{command} prints nothing by itself: {whole}")
                continue
            sinks = ("full", "unread", "closed", "unread, SIGPIPE ignored")
            for sink in sinks[:machine.times(4, 2)]:
                done = run_into(sink, [program, *command])
                fine = (done.code == 141 and "output is lost" not in done.err if sink.startswith("unread")
                        else done.code == 4 and "output" in done.err)
                outcome.count(fine, f"{sink}, {' '.join(map(str, command))}: {done}")
    return outcome


def printing_commands(machine: Machine, folder: Path) -> Iterator[tuple[Path, list]]:
    record, journal = folder / "record/record.json", only(folder / "journal", "*.jsonl")
    one, other = (measured_again(journal, folder / f"session-{name}.jsonl", name) for name in ("1", "2"))
    data = ["--data", folder / "a.csv"]
    with_json = [
        ["list"], ["doctor", "--device", "cpu", "--no-ceilings"], ["explain", "--family", "dot", "--device", "cpu"],
        ["verify", folder / "journal"], ["histogram", folder / "a.csv"], ["knn", *data],
        ["locate", record, "--velocity", "3000", "--grid", "8x8x8"],
        ["synthesize", folder / "again", "--duration", "1s", "--receivers", "10"],
        ["compare", one, other], ["report", "--no-page", "--results", folder / "results", "--output", folder / "r"],
        ["train", "--results", folder / "results", "--output", folder / "s"], ["show", folder / "results"],
    ]
    without = [
        ["--help"], ["--version"], ["knn", "--help"], ["list", "--markdown"], ["slurm", "--dry-run"], ["completion", "bash"],
        ["knn", "--train", folder / "a.csv", "--test", folder / "b.csv", "-o", "-"],
        ["locate", record, "--velocity", "3000", "--grid", "8x8x8", "-o", "-"],
        ["locate", record, "--velocity", "3000", "--grid", "8x8x8", "--cube", "-"],
        ["convolve", folder / "a.png", "-"], ["histogram", folder / "a.csv", "--format", "csv"],
        ["convolve", folder / "a.png", folder / "b.png", "--json"],
        ["merge", journal, "--results", folder / "m", "--json"],
    ]
    if not machine.quick:
        without.append(machine.sweep_arguments(folder / "again", "--variant", "right_baseline", "-p", "size=10", "-p",
                                               "seed=0"))
    for command in [*without, *with_json, *([*command, "--json"] for command in with_json)]:
        ours = any(str(folder) in str(word) for word in command) and command[0] in (
            "verify", "compare", "report", "train", "merge", "sweep", "show")
        yield (machine.faulty if ours else machine.espalier), command


def run_into(sink: str, command: list) -> Finished:
    """Runs a program whose stdout cannot be written."""
    def prepare() -> None:
        if sink == "closed":
            os.close(1)
        if sink.endswith("ignored"):
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full, os.fdopen(writer, "wb", 0) as unread:
        stdout = full if sink == "full" else unread
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, preexec_fn=prepare, timeout=300)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as a shell says it
    return Finished(code, "", done.stderr.decode("utf-8", "replace"), 0)


# --- row 28: signals ---------------------------------------------------------------------------------------------


def row_28(machine: Machine) -> Outcome:
    """INT, TERM and HUP at random moments of every command that writes."""
    outcome = Outcome()
    with machine.folder() as folder:
        place_inputs(machine, folder)
        for name, program, before, after in writing_commands(machine, folder):
            interrupt(machine, outcome, folder / "work", name, program, before, after)
    return outcome


def writing_commands(machine: Machine, folder: Path) -> Iterator[tuple]:
    """Each with what writes the old files and what is interrupted while it writes the new ones, into "work"."""
    work, data = folder / "work", ["--data", folder / "a.csv", "--quiet"]
    locate = ["locate", folder / "record/record.json", "--quiet", "--grid", "8x8x8", "--window", "1000"]
    journal, results = only(folder / "journal", "*.jsonl"), folder / "results"
    synthesize = ["synthesize", work, "--quiet", "--receivers", "60", "--duration", "6s", "--file-length", "2s"]
    yield ("knn", machine.espalier, ["knn", *data, "-o", work / "p.csv", "--seed", "1"],
           ["knn", *data, "-o", work / "p.csv", "--seed", "2"])
    yield ("convolve", machine.espalier, ["convolve", "--quiet", folder / "a.png", work / "b.png"],
           ["convolve", "--quiet", folder / "a.png", work / "b.png", "--kernel", "box"])
    located = ["-o", work / "w.csv", "--cube", work / "cube.csv", "--save-sums", work / "s.npy"]
    yield ("locate", machine.espalier, [*locate, "--velocity", "3000", *located],
           [*locate, "--velocity", "2900", *located])
    yield "synthesize", machine.espalier, synthesize, [*synthesize, "--seed", "2"]
    yield ("merge", machine.faulty, None, ["merge", journal, "--quiet", "--results", work])
    yield ("train", machine.faulty, None,
           ["train", "--quiet", "--trees", "--results", results, "--output", work, "--matrices", work / "matrices"])
    yield ("report --no-page", machine.faulty, None, ["report", "--no-page", "--results", results, "--output", work])
    yield ("sweep", machine.faulty, None,
           ["sweep", "--device", "cpu", "--quick", "--noise", "20%", "--counters", "off", "--quiet", "--output",
            folder / "other", "--results", work, "--variant", "right,right_baseline", "-p", "size=10", "-p", "seed=0,1,2"])
    scheduler = folder / "bin/sbatch"
    if not scheduler.exists():
        scheduler.parent.mkdir()
        scheduler.write_text("#!/bin/sh\necho 17\n")
        scheduler.chmod(0o755)
    yield "slurm", machine.faulty, None, ["slurm", "--output", work, "--", "--quick"]
    if not machine.quick:
        yield "report", machine.faulty, None, ["report", "--results", results, "--output", work]


def interrupt(machine: Machine, outcome: Outcome, work: Path, name: str, program: Path, before: list | None,
              after: list) -> None:
    def clean() -> None:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()

    def made_by(command: list | None) -> tuple[dict[str, str], float]:
        if command is None:
            return {}, 0.0
        done = run([program, *command], 300, path_of(work))
        if done.code:
            raise AssertionError(f"{name} fails by itself: {done}")
        return contents(work), done.seconds

    clean()
    old, _ = made_by(before)
    new, seconds = made_by(after)
    for number in range(machine.times(30, 3)):
        clean()
        made_by(before)
        sent = LISTENED_TO[number % 3]
        child = subprocess.Popen([str(word) for word in (program, *after)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                                 env=os.environ | path_of(work))
        time.sleep(machine.random.random() * seconds)
        child.send_signal(sent)
        try:
            _, said = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            outcome.count(False, f"{name} does not end after {sent.name}")
            continue
        code = child.returncode if child.returncode >= 0 else 128 - child.returncode  # before it could listen
        left = contents(work)
        fine = code in (0, 128 + sent) and all(known(path, content, old, new, name) for path, content in left.items())
        outcome.count(fine, f"{name}, {sent.name}: exit code {code}, left {sorted(left)}; {said[-300:]!r}")


def path_of(work: Path) -> dict[str, str]:
    """Where slurm finds an sbatch."""
    return {"PATH": f"{work.parent / 'bin'}:{os.environ['PATH']}"}


def known(path: str, content: str, old: dict[str, str], new: dict[str, str], name: str) -> bool:
    """The old file or the new one. A sweep's times differ from run to run: its files only have to be those."""
    if name == "sweep":
        return path in new
    return content in (old.get(path), new.get(path))


ROWS = {26: row_26, 27: row_27, 28: row_28}
