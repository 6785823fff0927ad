#!/usr/bin/python3
"""What the pages' writer reads and writes: regular files within bounds, replaced whole, under names that nobody can tell."""

import gzip
import os
import stat
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plots"))

import columns  # noqa: E402
import regular_files  # noqa: E402
import replaced  # noqa: E402
import results  # noqa: E402
from regular_files import Unusable  # noqa: E402

HEADER = ",".join(columns.FIRST) + "\n"


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.start = time.monotonic()

    def file(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path


class Reading(InAFolder):
    def test_what_is_no_file_is_refused(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "zero").symlink_to("/dev/zero")
        (self.folder / "loop").symlink_to("loop")
        (self.folder / "folder").mkdir()
        for name in ("pipe", "zero", "loop", "folder"):
            path = self.folder / name
            for read in (regular_files.read_bytes, results.read_csv, results.read_json,
                         lambda path: list(regular_files.lines(path))):
                with self.assertRaises(Unusable, msg=name):
                    read(path)
        with self.assertRaises(FileNotFoundError):
            regular_files.read_bytes(self.folder / "nothing")

    def test_files_and_links_to_them_are_read(self):
        self.file("a", b"text\n")
        (self.folder / "b").symlink_to("a")
        self.assertEqual(regular_files.read_text(self.folder / "b"), "text\n")
        self.assertEqual(regular_files.read_bytes(self.folder / "a", 5), b"text\n")
        with self.assertRaisesRegex(Unusable, "larger"):
            regular_files.read_bytes(self.folder / "a", 4)
        packed = self.file("c.gz", gzip.compress(b"1\r\n2\n\n3"))
        self.assertEqual(list(regular_files.lines(packed)), ["1\r\n", "2\n", "\n", "3"])

    def test_bombs_are_refused(self):
        block = 1 << 20
        zeros = self.file("zeros.jsonl.gz", gzip.compress(bytes(100 * block)))
        empty = self.file("empty.jsonl.gz", gzip.compress(b"\n" * (100 * block)))
        for path in (zeros, empty):
            with self.assertRaises(Unusable, msg=path.name):
                results.read_csv(path)
        with self.assertRaisesRegex(Unusable, "200 times"):
            for _ in regular_files.lines(self.file("words.gz", gzip.compress(b"ab\n" * (8 * block)))):
                pass
        with self.assertRaisesRegex(Unusable, "empty lines"):
            results.read_csv(self.file("empty.csv", HEADER.encode() + b"\n" * block))
        sparse = self.folder / "sparse.jsonl"
        with open(sparse, "wb") as file:
            file.truncate(1 << 40)
        with self.assertRaisesRegex(Unusable, "a line of more than"):
            list(regular_files.lines(sparse))
        with self.assertRaisesRegex(Unusable, "larger"):
            results.read_json(sparse)
        for name in ("cut.gz", "none.gz"):
            with self.assertRaisesRegex(Unusable, "unpacked"):
                list(regular_files.lines(self.file(name, gzip.compress(os.urandom(9999).hex().encode())[:-9] if name == "cut.gz" else b"no gzip")))
        self.assertLess(time.monotonic() - self.start, 60)


class Writing(InAFolder):
    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def test_links_stay_links_and_files_keep_their_permissions(self):
        target = self.file("target", b"old")
        target.chmod(0o640)
        (self.folder / "first").symlink_to("second")
        (self.folder / "second").symlink_to("target")
        (self.folder / "new").symlink_to("made")
        replaced.replace(self.folder / "first", "ä\n")
        replaced.replace(self.folder / "new", "made")
        self.assertEqual(target.read_text(encoding="utf-8"), "ä\n")
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)
        self.assertEqual((self.folder / "made").read_text(), "made")
        self.assertTrue(all((self.folder / name).is_symlink() for name in ("first", "second", "new")))
        self.assertEqual(self.names(), {"target", "first", "second", "new", "made"})

    def test_nothing_else_is_written_over(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "null").symlink_to("/dev/null")
        (self.folder / "loop").symlink_to("loop")
        (self.folder / "folder").mkdir()
        before = self.names()
        for name in before:
            with self.assertRaises(OSError, msg=name):
                replaced.replace(self.folder / name, "text")
        self.assertEqual(self.names(), before)
        self.assertTrue((self.folder / "pipe").is_fifo() and Path("/dev/null").is_char_device())

    def test_what_is_planted_is_not_touched(self):
        victim = self.file("victim", b"mine")
        tokens = ["a" * 16, "b" * 16, "c" * 16]
        for token in tokens[:2]:
            (self.folder / f".page.{token}.tmp").symlink_to(victim)
        with mock.patch.object(replaced.secrets, "token_hex", side_effect=tokens):
            replaced.replace(self.folder / "page", "text")
        self.assertEqual((self.folder / "page").read_text(), "text")
        self.assertEqual(victim.read_bytes(), b"mine")
        self.assertEqual(self.names(), {"victim", "page", *(f".page.{token}.tmp" for token in tokens[:2])})

    def test_a_failure_leaves_the_old_file_alone(self):
        path = self.file("page", b"old")
        with self.assertRaises(UnicodeEncodeError):
            replaced.replace(path, "new \udcff")
        self.assertEqual((path.read_bytes(), self.names()), (b"old", {"page"}))


if __name__ == "__main__":
    unittest.main()
