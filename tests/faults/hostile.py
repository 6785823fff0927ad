"""Rows 36 and 37: what lies in the place of files that commands read and write, and what everything may be called."""

import json
import lzma
import os
import re
import shutil
import socket
import subprocess
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from injection import Finished, Machine, Outcome, only, run, small_journal
from journals import measured_again

SECONDS, MIB = 2, 512  # more than the command takes of sound files, and in all

# --- row 36: no files in the places of files ---------------------------------------------------------------------


def packed(block: bytes, mebibytes: int, ending: str) -> bytes:
    """So many mebibytes of a block of 1 MiB, packed to a thousandth or less; in little memory, which the programs that are
    started from here would be taken to use."""
    packer = zlib.compressobj(9, wbits=31) if ending == "gz" else lzma.LZMACompressor(preset=0)
    return b"".join(packer.compress(block) for _ in range(mebibytes)) + packer.flush()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def listener(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's name may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def folder_of_that_name(path: Path) -> None:
    path.mkdir()


def sparse(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def nothing_but_zeros(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 29)


def nothing_but_lines(path: Path) -> None:
    with open(path, "wb") as file:
        for _ in range(64):
            file.write(b"\n" * (1 << 20))


def bomb(block: bytes, ending: str) -> Callable[[Path], None]:
    content = packed(block, 1024, ending)

    def lay(path: Path) -> None:
        path.write_bytes(content)
    return lay


def kinds(machine: Machine) -> dict[str, Callable[[Path], None]]:
    every = {"a pipe": pipe, "a link to /dev/zero": device, "a looping link": loop, "a socket": listener,
             "a folder": folder_of_that_name, "a sparse file of a tebibyte": sparse,
             "zeros": nothing_but_zeros, "empty lines": nothing_but_lines}
    return dict(list(every.items())[::machine.times(1, 2)])


TREE = "the tree"  # which lies where a repository has those of its results/


def tree_of(work: Path) -> Path:
    return only(work / "kernels/selectors/faulty", "*.tree")


def reading_commands(machine: Machine, work: Path) -> dict[str, tuple[list, set[str], bool]]:
    """What is run, which files of the results it reads, and whether it goes on without one that cannot be read."""
    results, device_key, selectors = work / "results", only(work / "results", "*").name, work / "kernels/selectors"
    packed_cases = {"device.json", "faulty.jsonl", "coverage.json"}
    trained = packed_cases | {"known_stale.json", "selector.json", TREE}
    return {
        "verify": ([machine.faulty, "verify", results], packed_cases | {"known_stale.json"}, False),
        "show": ([machine.faulty, "show", results], packed_cases, False),
        "train": ([machine.faulty, "train", "--quiet", "--device", device_key, "--results", results, "--output", selectors],
                  trained, False),
        "report": ([machine.faulty, "report", "--results", results, "--output", work / "r"],
                   packed_cases | {"selector.json", TREE}, True),
        "compare": ([machine.faulty, "compare", results / device_key, work / "again"], packed_cases, False),
        "merge": ([machine.faulty, "merge", only(work / "journal", "*.jsonl"), "--results", results], packed_cases, False),
    }


def sound_results(machine: Machine, folder: Path) -> Path:
    """Results, trained, their journal beside them."""
    work = folder / "work"
    work.mkdir()
    small_journal(machine, work)
    done = run([machine.faulty, "train", "--quiet", "--results", work / "results", "--output", work / "kernels/selectors"])
    if done.code:
        raise AssertionError(f"nothing is trained: {done}")
    key = only(work / "results", "*")
    measured_again(key, key, "1")
    measured_again(key, work / "again", "2")
    (key / "known_stale.json").write_text('{"schema": "espalier.known_stale/1", "variants": {}}')
    return work


def in_time(done: Finished, usual: Finished) -> bool:
    return done.seconds < SECONDS + 3 * usual.seconds and done.peak_mib < MIB


def row_36(machine: Machine) -> Outcome:
    """No files where files are read, bombs among them, and links where files are written."""
    outcome = Outcome()
    with machine.folder() as folder:
        work = sound_results(machine, folder)
        shutil.copytree(work, folder / "kept", symlinks=True)
        usual = {}
        for name, (command, *_) in reading_commands(machine, work).items():
            usual[name] = run(command, 300)
            if usual[name].code:
                raise AssertionError(f"{name} fails by itself: {usual[name]}")
        for what, lay in kinds(machine).items():
            for place in ("device.json", "coverage.json", "known_stale.json", "faulty.jsonl", "selector.json", TREE):
                laid_in_results(machine, outcome, work, folder / "kept", usual, what, lay, place, place)
        for what, block in (("a bomb of zeros", bytes(1 << 20)), ("a bomb of empty lines", b"\n" * (1 << 20))):
            for ending in ("gz", "xz"):
                laid_in_results(machine, outcome, work, folder / "kept", usual, what, bomb(block, ending), "faulty.jsonl",
                                f"faulty.jsonl.{ending}")
        journals(machine, outcome, folder)
        trees(machine, outcome, work)
        circles(machine, outcome, folder)
        shutil.rmtree(work)
        shutil.copytree(folder / "kept", work, symlinks=True)
        planted(machine, outcome, work)
        links_stay(machine, outcome, work)
    return outcome


def laid_in_results(machine: Machine, outcome: Outcome, work: Path, kept: Path, usual: dict[str, Finished], what: str,
                    lay: Callable[[Path], None], place: str, name: str) -> None:
    for command_name, (command, read, goes_on) in reading_commands(machine, work).items():
        if place not in read or (machine.quick and machine.random.randrange(4)):
            continue
        shutil.rmtree(work)
        shutil.copytree(kept, work, symlinks=True)
        target = tree_of(work) if place == TREE else only(work / "results", "*") / place
        target.unlink()
        lay(target if place == TREE else target.with_name(name))
        done = run(command, 60)
        goes_on = goes_on or (command_name == "train" and place == TREE)  # of which it writes another
        fine = (done.code in (0, 4) if goes_on else done.code == 4 and bool(done.err))
        outcome.count(fine and in_time(done, usual[command_name]),
                      f"{what} as {name}, {command_name}: {done.seconds:.1f} s, {done.peak_mib:.0f} MiB; {done}")


def journals(machine: Machine, outcome: Outcome, folder: Path) -> None:
    """As a journal that is read, and as one that is appended to."""
    lays = {(what, ""): lay for what, lay in kinds(machine).items()}
    for ending in ("gz", "xz"):
        lays["a bomb of zeros", f".{ending}"] = bomb(bytes(1 << 20), ending)
        lays["a bomb of empty lines", f".{ending}"] = bomb(b"\n" * (1 << 20), ending)
    for number, ((what, ending), lay) in enumerate(lays.items()):
        journal = folder / f"journal-{number}.jsonl{ending}"
        lay(journal)
        for command in ("verify", "merge", "show"):
            more = ["--results", folder / "merged"] if command == "merge" else []
            done = run([machine.espalier, command, journal, *more], 60)
            outcome.count(done.code == 4 and bool(done.err) and done.seconds < 2 * SECONDS and done.peak_mib < MIB,
                          f"{what}, {command}: {done.seconds:.1f} s, {done.peak_mib:.0f} MiB; {done}")
    with machine.folder() as place:
        name = small_journal(machine, place).name
        for what in ("a link", "a link that leads nowhere", "a pipe"):
            victim, journal = place / "victim", place / "other" / name
            shutil.rmtree(place / "other", ignore_errors=True)
            (place / "other").mkdir()
            victim.unlink(missing_ok=True)
            if what == "a link":
                victim.write_text("mine\n")
            if what == "a pipe":
                pipe(journal)
            else:
                journal.symlink_to(victim)
            done = run([machine.faulty, "sweep", "--device", machine.device, "--quick", "--noise", "20%", "--counters", "off",
                        "--no-ceilings", "--output", place / "other", "--results", place / "more", "--variant",
                        "right_baseline", "-p", "size=10", "-p", "seed=0"])
            left = victim.read_text() if victim.exists() else None
            outcome.count(done.code == 4 and "--output" in done.err and left == ("mine\n" if what == "a link" else None),
                          f"a journal that is {what}: left {left!r}; {done}")


def trees(machine: Machine, outcome: Outcome, work: Path) -> None:
    """As a tree that the library is told to load: left out, with the reason, and the choice is made."""
    for number, (what, lay) in enumerate(kinds(machine).items()):
        tree = work / f"{number}.tree"
        lay(tree)
        done = run([machine.espalier, "explain", "--family", "dot", "--device", "cpu"],
                   environment={"ESPALIER_SELECTORS": str(tree)})
        outcome.count(done.code == 0 and "ignored: " in done.out and tree.name in done.out and done.seconds < 2 * SECONDS and
                      done.peak_mib < MIB, f"{what} as a tree: {done.peak_mib:.0f} MiB; {done.out[:300]} {done}")


def circles(machine: Machine, outcome: Outcome, folder: Path) -> None:
    """Folders that links lead back to: each is looked into once."""
    place = folder / "circles"
    shutil.copytree(folder / "kept/results", place)
    for name in ("a", "b", "c"):
        (place / name).symlink_to(".")
    done = run([machine.faulty, "verify", "--json", place], 60)
    outcome.count(done.code == 0 and len(json.loads(done.out)) == 1 and done.seconds < 2 * SECONDS,
                  f"links in a circle: {done}")


def planted(machine: Machine, outcome: Outcome, work: Path) -> None:
    """Links under every name that a temporary file could be told to get: of the next processes, and of the first files of
    each. Neither they nor what they lead to is touched."""
    report, victim = work / "planted", work / "victim"
    report.mkdir()
    victim.write_text("mine\n")
    first = subprocess.Popen(["true"])
    first.wait()
    links = [report / f".index.html.{pid}{ending}" for pid in range(first.pid, first.pid + 4000)
             for ending in (".tmp", ".0.tmp")] + [report / ".index.html.tmp", report / "index.html.tmp"]
    for link in links:
        link.symlink_to(victim)
    done = run([machine.faulty, "report", "--results", work / "results", "--output", report], 300)
    outcome.count(done.code == 0 and victim.read_text() == "mine\n" and (report / "index.html").is_file() and
                  not (report / "index.html").is_symlink() and all(link.is_symlink() for link in links),
                  f"planted links: {victim.read_text()[:20]!r}; {done}")


def links_stay(machine: Machine, outcome: Outcome, work: Path) -> None:
    """What a link leads to is replaced or made, and the link stays one; a pipe or a device is refused."""
    results, key = work / "results", only(work / "results", "*").name
    writers = {
        "report": (work / "l/index.html", [machine.faulty, "report", "--results", results, "--output", work / "l"]),
        "exports": (work / "l/exports" / key / "faulty.csv",
                    [machine.faulty, "report", "--no-page", "--results", results, "--output", work / "l"]),
        "compare": (work / "l/compare.html", [machine.faulty, "compare", results / key, work / "again", "--html",
                                              work / "l/compare.html"]),
        "train": (work / "l/faulty" / f"{key}.tree", [machine.faulty, "train", "--quiet", "--trees", "--results", results,
                                                         "--output", work / "l"]),
        "merge": (work / "l" / key / "faulty.jsonl", [machine.faulty, "merge", "--quiet", only(work / "journal", "*.jsonl"),
                                                    "--results", work / "l"]),
    }
    for name, (output, command) in writers.items():
        for there in (True, False):
            shutil.rmtree(work / "l", ignore_errors=True)
            output.parent.mkdir(parents=True)
            target = work / "target"
            target.unlink(missing_ok=True)
            if there:
                target.write_text("old\n")
                target.chmod(0o640)
            output.symlink_to(target)
            done = run(command, 300)
            outcome.count(done.code == 0 and output.is_symlink() and target.is_file() and target.read_text() != "old\n" and
                          (not there or target.stat().st_mode & 0o777 == 0o640), f"{name}, a link to {there}: {done}")
        shutil.rmtree(work / "l")
        output.parent.mkdir(parents=True)
        pipe(output)
        done = run(command, 60)
        outcome.count(done.code == 4 and output.is_fifo(), f"{name} into a pipe: {done}")


# --- row 37: what everything may be called -----------------------------------------------------------------------

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd\U000e0000-\U000e007f]")
HOSTILE = [b"\x1b[31mred", b"\x1b]0;title\x07", "\u009b31m".encode(), "\u202egnp.exe".encode(), "\u2066a\u2069".encode(),
           "a\u2028b".encode(), b"\x7f\x08\x08", b"\x9b31m", b"\xff\xfe", b"a\rb", "\u061c\ufeff\U000e0041".encode(),
           b"'; touch injected; '", b"$(touch injected) `touch injected`"]


def inert(done: Finished) -> bool:
    """No character that acts, and no byte that is no UTF-8, on either output."""
    return done.code >= 0 and not ACTING.search(done.out + done.err)


@dataclass
class Named:
    """A folder of that name with results, a journal, and files that are not what they should be."""

    name: str
    place: Path
    results: Path = field(init=False)
    journal: Path = field(init=False)
    bad: Path = field(init=False)
    table: Path = field(init=False)
    asked: Path = field(init=False)  # a list of problems that is one, but of a device of that name
    others: Path = field(init=False)  # results with a device of that name

    def __post_init__(self) -> None:
        name, place = self.name, self.place
        self.results, self.journal = place / "results", only(place / "journal", "*.jsonl")
        self.bad, self.table, self.others = place / f"{name}.jsonl", place / f"{name}.csv", place / "others"
        self.bad.write_bytes(b"no record\n" + os.fsencode(name) + b"\n")
        self.table.write_bytes(b"x,y\n1,a\n2,b\n")
        self.asked = place / f"{name}.asked"
        self.asked.write_bytes(b"family=dot problem=elements=9 device=" + os.fsencode(name) + b"\n")
        shutil.copytree(self.results, self.others)
        (self.others / name).mkdir()
        (self.others / name / "device.json").write_bytes(b"{" + os.fsencode(name))
        (place / "bad.tree").write_bytes(b'{"' + os.fsencode(name) + b'": 1}')

    @property
    def key(self) -> str:
        return only(self.results, "c*").name


ON_CPU = ["--device", "cpu"]


def asked_for(espalier: Path, name: str, place: Path, others: Path) -> list[list]:
    """The name for commands, options, devices, families, variants and sizes."""
    return [
        [espalier, name], [espalier, f"--{name}"], [espalier, "list", f"--{name}"], [espalier, "list", name],
        [espalier, "completion", name], [espalier, name, "--help"],
        [espalier, "doctor", "--no-ceilings", *ON_CPU, "--results", place], [espalier, "doctor", "--device", name],
        [espalier, "explain", "--family", name], [espalier, "explain", "--family", "dot", "-p", name],
        [espalier, "explain", "--family", "dot", "-p", f"elements={name}"], [espalier, "explain", "--family", "dot", "--device", name],
        [espalier, "explain", "--family", "dot", "--variant", name], [espalier, "explain", "--family", "dot", "--results", others, "--device", name],
    ]


def of_records(faulty: Path, of: Named) -> list[list]:
    """Commands that read journals and results, and write what is made of them."""
    name, place, results, key, others = of.name, of.place, of.results, of.key, of.others
    return [
        [faulty, "verify", place], [faulty, "verify", of.bad], [faulty, "verify", place / "nothing"],
        [faulty, "show", results / key], [faulty, "show", place], [faulty, "show", others], [faulty, "show", results / key, "--filter", name],
        [faulty, "show", results / key, "--filter", f"({name}"], [faulty, "show", results / key, "-p", f"{name}=1"],
        [faulty, "merge", of.journal, "--results", place / "m"], [faulty, "merge", of.bad, "--results", place / "m"],
        [faulty, "compare", results / key, place / "nothing"], [faulty, "compare", results / key, results / key],
        [faulty, "compare", results / key, results / key, "--html", place / "c.html"],
        [faulty, "train", "--results", results, "--device", key, "--output", place / "s"], [faulty, "train", "--results", others],
        [faulty, "train", "--results", others, "--device", name], [faulty, "train", "--results", results, "--family", name],
        [faulty, "train", "--results", results, "--device", key, "--output", place / "other", "--check"],
        [faulty, "train", "--results", results, "--device", key, "--output", place / "other", "--weights", of.table],
        [faulty, "train", "--results", results, "--device", key, "--output", place / "other", "--weights", of.asked],
        [faulty, "train", "--results", results, "--device", key, "--output", place / "s", "--matrices", place / "x"],
        [faulty, "report", "--results", results, "--output", place / "r"], [faulty, "report", "--results", others, "--device", name],
        [faulty, "report", "--results", others, "--output", place / "r"], [faulty, "verify", others],
        [faulty, "report", "--no-page", "--results", results, "--device", key, "--output", place / "r"],
        [faulty, "export", "--results", results, "-o", place / "e"], [faulty, "export", "--results", others, "--device", name, "-o", place / "e"],
        [faulty, "export", "--results", others, "-o", place / "e"], [faulty, "figures", "--results", others, "--device", name],
        [faulty, "figures", "--results", place / "nothing", "--output", place / "f"],
        [faulty, "judge", "--from-results", "--results", results, "--device", key], [faulty, "judge", "--from-results", "--results", others, "--device", name],
    ]


def of_sweeps(machine: Machine, of: Named) -> list[list]:
    name, place, results, faulty = of.name, of.place, of.results, machine.faulty
    return [
        [faulty, *machine.sweep_arguments(place, "--variant", name)], [faulty, "sweep", "--device", name],
        [faulty, "sweep", "--family", name], [faulty, "sweep", *ON_CPU, "-p", f"{name}=1"],
        [faulty, *machine.sweep_arguments(place, "--resume", "--variant", "right_baseline", "-p", "size=10", "-p", "seed=0")],
        [faulty, "slurm", "--dry-run", "--output", place / "journal", "--results", results], [faulty, "slurm", "--dry-run", "--sbatch", name],
        [faulty, "slurm", "--dry-run", f"--sbatch=--comment={name}", "--", name],
    ]


def of_data(espalier: Path, of: Named) -> list[list]:
    """Commands that read a user's records, images and tables."""
    name, place, table = of.name, of.place, of.table
    grid = ["--grid", "2x2x2", "--spacing", "40", "--velocity", "2500"]
    return [
        [espalier, "synthesize", place / "record", "--receivers", "2", "--duration", "1s", "--grid", "2x2x2", "--spacing", "40"],
        [espalier, "locate", place / "record/record.json", *ON_CPU, *grid],
        [espalier, "locate", of.bad, *ON_CPU, *grid, "--receivers-file", table],
        [espalier, "locate", place / "record/record.json", *ON_CPU, "--velocity", "2500", "--grid", name],
        [espalier, "convolve", table, place / "out.png", *ON_CPU], [espalier, "convolve", table, place / "out.png", "--kernel", name],
        [espalier, "histogram", table, *ON_CPU], [espalier, "histogram", place / "nothing"], [espalier, "histogram", table, "--format", name],
        [espalier, "knn", "--data", table, *ON_CPU, "-k", "1"], [espalier, "knn", "--data", place / "nothing"],
        [espalier, "knn", "--data", table, "--label", name],
        [espalier, "wisdom", table], [espalier, "wisdom", of.bad], [espalier, "wisdom", place / "nothing"],
        [espalier, "wisdom", table, "--family", name], [espalier, "wisdom", table, "--device", name, "--output", place / "w"],
        [espalier, "sweep", "--problems", table], [espalier, "sweep", "--problems", place / "nothing"],
        [espalier, "tune", "--problems", table, "--output", place / "w"], [espalier, "tune", "--problems", place / "nothing", "--dry-run"],
        [espalier, "tune", "--problems", of.asked, "--output", of.bad, *ON_CPU], [espalier, "tune", "--problems", of.asked, "--output", of.table],
        [espalier, "tune", "--problems", of.asked, "--dry-run", "--device", name], [espalier, "tune", "--problems", of.asked, "--output", place, *ON_CPU],
    ]


def of_kernels(espalier: Path, of: Named) -> list[list]:
    """Commands that write, test and measure kernels of one's own."""
    name, place = of.name, of.place
    return [
        [espalier, "new", "family", name], [espalier, "new", "variant", name], [espalier, "new", "variant", f"dot/{name}"],
        [espalier, "verify-variant", name], [espalier, "verify-variant", f"dot/{name}"],
        [espalier, "tune", place / "nothing"], [espalier, "tune", of.bad], [espalier, "tune", of.bad, "--device", name],
    ]


def in_environments(machine: Machine, of: Named, tree: Path) -> Iterator[tuple[list, dict[str, str]]]:
    espalier, faulty = machine.espalier, machine.faulty
    name, place, results = of.name, of.place, of.results
    explain = [espalier, "explain", "--family", "dot", *ON_CPU]
    for variable in ("ESPALIER_CPU_ISA", "ESPALIER_FORCE_VARIANT", "ESPALIER_SELECTORS"):
        for value in (name, f"dot/{name}", f"{name}/x"):
            yield explain, {variable: value}
    for path in (place / "bad.tree", tree, results):
        yield explain, {"ESPALIER_SELECTORS": str(path)}
        yield [espalier, "doctor", "--no-ceilings", *ON_CPU], {"ESPALIER_SELECTORS": str(path)}
    for variable in ("ESPALIER_PYTHON", "ESPALIER_PLOTS"):
        yield [faulty, "report", "--results", results, "--output", place / "r"], {variable: name}
    for variable in ("ESPALIER_WAIT_FOR_QUIET", "ESPALIER_ALLOW_DISTURBED"):
        yield [faulty, "judge", "--from-results", "--results", results], {variable: name}
    compiler = place / "nvcc"
    compiler.write_text("#!/bin/sh\nprintf 'release \\033[31m1\\n'\n")
    compiler.chmod(0o755)
    yield [espalier, "doctor", "--no-ceilings", *ON_CPU], {"PATH": f"{place}:{os.environ['PATH']}", "CUDACXX": ""}
    yield [espalier, "doctor", "--no-ceilings", *ON_CPU], {"CUDACXX": str(compiler)}


def named(machine: Machine, folder: Path, name: str) -> Iterator[tuple[list, dict[str, str]]]:
    """Every command with this name for its files, folders, keys and words, and in the environment."""
    place = folder / name
    of = Named(name, place)
    tree = tree_of(place)
    for command in (*asked_for(machine.espalier, name, place, of.others), *of_records(machine.faulty, of),
                    *of_sweeps(machine, of), *of_data(machine.espalier, of),
                    *of_kernels(machine.espalier, of)):
        yield command, {}
    yield from in_environments(machine, of, tree)


def untested(machine: Machine, tested: set[str]) -> set[str]:
    """Commands of the program that no hostile name was tried on."""
    listed = run([machine.espalier, "--help"]).out.split("Subcommands:\n")[1].split("\n\n")[0]
    return {line.split()[0] for line in listed.splitlines()} - tested


def row_37(machine: Machine) -> Outcome:
    """Control, C1 and bidirectional characters, bytes that are no UTF-8, and a shell's words, in every name."""
    outcome = Outcome()
    tested = set()
    with machine.folder() as folder:
        sound = sound_results(machine, folder)
        for number, text in enumerate(HOSTILE[machine.random.randrange(4) if machine.quick else 0::machine.times(1, 5)]):
            name = os.fsdecode(text)
            shutil.copytree(sound, folder / name, symlinks=True)
            for count, (command, environment) in enumerate(named(machine, folder, name)):
                tested.add(str(command[1]))
                for form in ([], ["--json"]) if (count + number) % 4 == 0 else ([],):
                    done = run([*command, *form], 60, environment, folder=folder)
                    outcome.count(inert(done) and not (folder / "injected").exists(),
                                  f"{text!r}: {[str(word) for word in command[1:]]} {environment}: {ACTING.findall(done.out + done.err)[:3]} {done}")
                    (folder / "injected").unlink(missing_ok=True)
            shutil.rmtree(folder / name)
    outcome.count(not untested(machine, tested), f"no hostile name was tried on {untested(machine, tested)}")
    return outcome


ROWS = {36: row_36, 37: row_37}
