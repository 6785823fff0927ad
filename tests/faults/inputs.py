"""Rows 29 and 30: what stands in the files that users hand to the commands."""

import gzip
import json
import re
import struct
import zlib
from pathlib import Path

from injection import REPOSITORY, Finished, Machine, Outcome, run

SECONDS, MIB = 2, 512  # in which a file is refused
GRID = ["--grid", "2x2x2", "--spacing", "40", "--velocity", "2500"]


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, depth: int, colour: int, rows: bytes = bytes(20)) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def jpeg_of(machine: Machine, folder: Path, width: int, height: int) -> bytes:
    """A small JPEG whose frame says that it is a large one."""
    (folder / "grey.png").write_bytes(png(8, 8, 8, 0, bytes(9 * 8)))
    done = run([machine.espalier, "convolve", folder / "grey.png", folder / "grey.jpg", "--device", "cpu", "--quiet"])
    if done.code:
        raise AssertionError(str(done))
    jpeg = bytearray((folder / "grey.jpg").read_bytes())
    frame = jpeg.index(b"\xff\xc0")
    jpeg[frame + 5:frame + 9] = struct.pack(">HH", height, width)
    return bytes(jpeg)


def record(machine: Machine, folder: Path) -> dict:
    """The index of a small record in `folder`."""
    done = run([machine.espalier, "synthesize", folder, "--receivers", "3", "--duration", "900", "--file-length", "300",
                "--grid", "2x2x2", "--spacing", "40", "--quiet"])
    if done.code:
        raise AssertionError(str(done))
    return json.loads((folder / "record.json").read_text())


def miniseed(year: int, channel: bytes = b"HHZ", name: bytes = b"R0   ") -> bytes:
    """One record of 512 bytes: 50 samples of 32 bits, at 100 a second."""
    head = b"000001D " + name + b"  " + channel + b"XX"
    head += struct.pack(">HHBBBBHHhhBBBBiHH", year, 60, 13, 0, 0, 0, 0, 50, 100, 1, 0, 0, 0, 1, 0, 64, 48)
    head += struct.pack(">HHBBBB", 1000, 0, 3, 1, 9, 0)  # 32-bit integers, big-endian, 2^9 bytes
    return head.ljust(64, b"\0") + struct.pack(">50i", *range(50)).ljust(448, b"\0")


def refused(done: Finished, codes: tuple, *parts: str) -> bool:
    return (done.code in codes and done.seconds < SECONDS and done.peak_mib < MIB and
            all(part in done.err for part in parts))


def absurd_sizes(machine: Machine, folder: Path, outcome: Outcome) -> None:
    images = {
        "a PNG of 2147483647 x 1": (png(2147483647, 1, 1, 0), "--max-image"),
        "a PNG of 30000 x 30000 RGBA": (png(30000, 30000, 8, 6), "--max-image"),
        "a PNG of 30000 x 8000": (png(30000, 8000, 8, 2), "bytes can hold"),
        "a PNG of a petabyte": (png(2147483647, 2147483647, 8, 6), "--max-image"),
        "a JPEG of 65500 x 65500": (jpeg_of(machine, folder, 65500, 65500), "--max-image"),
        "a JPEG of 65500 x 9000": (jpeg_of(machine, folder, 65500, 9000), "bytes can hold"),
        "a PPM of 30000 x 8000": (b"P6 30000 8000 255 " + bytes(300), "bytes can hold"),
        "a PPM of one row of 350 million pixels": (b"P6 350000000 1 255 " + bytes(1_100_000), "within its pixels"),
        "a PGM of a petabyte": (b"P5 2147483647 2147483647 255 ", "--max-image"),
    }
    for what, (content, part) in images.items():
        (folder / "image").write_bytes(content)
        command = [machine.espalier, "convolve", folder / "image", folder / "out.png", "--device", "cpu"]
        piped = ["sh", "-c", f"cat '{folder}/image' | '{machine.espalier}' convolve - '{folder}/out.png' --device cpu"]
        for way, line in (("", command), (" in a pipe, which tells no size", piped)):
            done = run(line)
            outcome.count(refused(done, (4,), part) and not (folder / "out.png").exists(),
                          f"{what}{way}: {done.peak_mib:.0f} MiB; {done}")

    (folder / "test.csv").write_text("1,2\n")
    with gzip.open(folder / "bomb.csv.gz", "wb", 9) as stream:
        for _ in range(machine.times(2000, 100)):
            stream.write(b"1,2,a\n" * 174_763)
    (folder / "wide.csv").write_text("," * 2_000_000)
    (folder / "keys.csv").write_text("k,y\n" + "".join(f"k{i}{'x' * 900},p\n" for i in range(20_000)))
    for name, options, part in (("bomb.csv.gz", [], "--max-inflation"), ("wide.csv", [], "--delimiter"),
                                ("keys.csv", ["--memory", "8MiB"], "--memory")):
        done = run([machine.espalier, "knn", "--train", folder / name, "--test", folder / "test.csv", "-k", "1",
                    "--device", "cpu", *options])
        outcome.count(refused(done, (4,), part), f"{name}: {done.peak_mib:.0f} MiB; {done}")

    place = folder / "record"
    index = record(machine, place)
    for files in ([0, 300, 10**12], [0, 10**12, 10**12 + 300], [10**12, 10**12 + 300, 10**12 + 600]):
        for entry, first in zip(index["files"], files):
            entry["first_sample"] = first
        (place / "record.json").write_text(json.dumps(index))
        done = run([machine.espalier, "locate", place / "record.json", "--device", "cpu", *GRID])
        outcome.count(refused(done, (4,), "--max-gap"), f"first samples {files}: {done}")
    (place / "record.json").write_text(json.dumps(index) + " " * (64 << 20))
    (place / "endless.json").symlink_to("/dev/zero")
    for name in ("record.json", "endless.json"):
        done = run([machine.espalier, "locate", place / name, "--device", "cpu", *GRID])
        outcome.count(refused(done, (4,), "16777216 bytes"), f"an index that is too large, {name}: {done}")
    (folder / "receivers.csv").write_text("name,x,y,z\nR0,0,0,0\nR1,10,0,0\n")
    for years in ((2024, 2056), (1970, 2024), (2024, 2025)):
        (folder / "clock.mseed").write_bytes(miniseed(years[0]) + miniseed(2024, name=b"R1   ") + miniseed(years[1]))
        done = run([machine.espalier, "locate", folder / "clock.mseed", "--receivers-file", folder / "receivers.csv",
                    "--device", "cpu", *GRID])
        outcome.count(refused(done, (4,), "--max-gap"), f"clocks of {years}: {done}")
    for options, part in ((["--duration", "100000h"], "--max-size"), (["--grid", "9999x9999x9999"], "--grid"),
                          (["--duration", "1e300h"], "--duration"), (["--receivers", "99999999"], "--receivers"),
                          (["--duration", "999h", "--receivers", "1", "--file-length", "1"], "--file-length")):
        done = run([machine.espalier, "synthesize", folder / "new", *options])
        outcome.count(refused(done, (2,), part) and not (folder / "new").exists(), f"synthesize {options}: {done}")


def fuzzed(machine: Machine, program: str, runs: int, outcome: Outcome, *seeds: Path) -> None:
    """So many mutated inputs, each within the limits, under AddressSanitizer."""
    with machine.folder() as folder:
        (folder / "corpus").mkdir()
        done = run([machine.program(program), f"-runs={runs}", f"-timeout={SECONDS}", f"-rss_limit_mb={MIB}",
                    f"-malloc_limit_mb={MIB}", "-max_len=8192", "-seed=1", "-print_final_stats=1", folder / "corpus", *seeds],
                   580, folder=folder)
        executed = re.search(r"number_of_executed_units: (\d+)", done.err)
        outcome.count(done.code == 0 and executed is not None, f"{program}: {done}", int(executed[1]) if executed else 1)


def row_29(machine: Machine) -> Outcome:
    """Absurd sizes in small files: refused at once, with the option that lifts the limit. Then mutated files."""
    outcome = Outcome()
    with machine.folder() as folder:
        absurd_sizes(machine, folder, outcome)
    fuzzed(machine, "readers_fuzz", machine.times(10_000, 300), outcome)
    fuzzed(machine, "records_fuzz", machine.times(10_000, 300), outcome, REPOSITORY / "tests/fuzz/seeds")
    return outcome


ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
HOSTILE = ["\x1b[31mred", "\x1b]0;title\x07", "\u009b31m", "\u202egnp.exe", "\u2066a\u2069", "a\u2028b", "\x7f\x08\x08", "=1+1|x"]


def inert(done: Finished) -> bool:
    return not ACTING.search(done.out + done.err)


def row_30(machine: Machine) -> Outcome:
    """Escape sequences, NUL and marks of direction in names, labels and keys: inert wherever they are shown."""
    outcome = Outcome()
    for text in HOSTILE[::machine.times(1, 3)]:
        with machine.folder() as folder:
            hostile_table(machine, folder, text, outcome)
            hostile_record(machine, folder, text, outcome)
    with machine.folder() as folder:
        index = record(machine, folder / "record")
        for text in ("\0", "a\0.f32", "\x1b[31m\0"):
            index["files"][1]["name"] = text
            (folder / "record/record.json").write_text(json.dumps(index))
            done = run([machine.espalier, "locate", folder / "record/record.json", "--device", "cpu", *GRID])
            outcome.count(done.code == 4 and inert(done) and "NUL" in done.err, f"name {text!r}: {done}")
            # What comes after a NUL is told, too.
            index["schema"] = text + "the end"
            (folder / "record/record.json").write_text(json.dumps(index))
            done = run([machine.espalier, "locate", folder / "record/record.json", "--device", "cpu", *GRID])
            outcome.count(done.code == 4 and inert(done) and "the end" in done.err, f"schema {text!r}: {done}")
            index["schema"] = "espalier.record/1"
    return outcome


def hostile_table(machine: Machine, folder: Path, text: str, outcome: Outcome) -> None:
    """Names of columns, categories and classes, in answers and in errors."""
    (folder / "train.csv").write_text(f'"x{text}",sky,y\n0,"{text}","{text}"\n9,red,calm\n', encoding="utf-8")
    (folder / "test.csv").write_text(f'"x{text}",sky\n0,"{text}"\n9,red\n', encoding="utf-8")
    command = [machine.espalier, "knn", "--train", folder / "train.csv", "-k", "1", "--device", "cpu"]
    done = run([*command, "--test", folder / "test.csv", "-o", folder / "out.csv"])
    written = (folder / "out.csv").read_text(encoding="utf-8") if done.code == 0 else text
    outcome.count(done.code == 0 and inert(done) and not ACTING.search(written) and not re.search("[,\n][=@+]", written),
                  f"table of {text!r}: {done}")
    done = run([*command, "--test", folder / "test.csv"])
    outcome.count(done.code == 0 and inert(done), f"predictions of {text!r} on the terminal: {done}")
    for bad in (f'"{text}z",sky\n1,red\n', f'"x{text}",sky\n"{text}",red\n', f'"x{text}",sky\n1,"{text}?"\n'):
        (folder / "bad.csv").write_text(bad, encoding="utf-8")
        done = run([*command, "--test", folder / "bad.csv"])
        outcome.count(done.code == 4 and inert(done), f"{bad!r}: {done}")


def hostile_record(machine: Machine, folder: Path, text: str, outcome: Outcome) -> None:
    """Receivers, channels, members of an index, and files themselves."""
    (folder / "receivers.csv").write_text(f'name,x,y,z\n"{text}",0,0,0\n', encoding="utf-8")
    (folder / "a.mseed").write_bytes(miniseed(2024, name=text.encode()[:5].ljust(5)))
    done = run([machine.espalier, "locate", folder / "a.mseed", "--receivers-file", folder / "receivers.csv",
                "--device", "cpu", *GRID])
    outcome.count(inert(done), f"channel {text!r}: {done}")
    place = folder / "record"
    index = record(machine, place) | {text: 1}
    (place / "record.json").write_text(json.dumps(index), encoding="utf-8")
    done = run([machine.espalier, "locate", place / "record.json", "--device", "cpu", *GRID])
    outcome.count(done.code == 4 and inert(done), f"member {text!r}: {done}")
    named = folder / f"{text.replace('/', '_')}.png"
    named.write_bytes(png(3, 2, 8, 0, bytes(8)))
    done = run([machine.espalier, "convolve", named, folder / "out.png", "--device", "cpu"])
    outcome.count(done.code == 0 and inert(done), f"file {text!r}: {done}")
    done = run([machine.espalier, "histogram", named, "--device", "cpu"])
    outcome.count(done.code == 0 and inert(done), f"bytes of file {text!r}: {done}")
    for command in (["histogram", named], ["convolve", named, folder / "out.png"]):
        done = run([machine.espalier, *command, "--json", "--device", "cpu"])
        outcome.count(done.code == 0 and inert(done), f"{command[0]} --json of file {text!r}: {done}")


ROWS = {29: row_29, 30: row_30}
