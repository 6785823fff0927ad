"""Reads regular files, bounded whatever they hold: nothing in a results folder is trusted.

Links are followed; a pipe, a device, a socket or a folder is refused as soon as it is open, so that nothing is waited for
and nothing is read without end. The command line has such limits, too: harness/bench/records/lines.hpp, kernels/json/.
"""

import errno
import gzip
import io
import json
import lzma
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LARGEST = 1 << 30  # bytes, unpacked, of what is read line by line
LARGEST_WHOLE = 64 << 20  # bytes of what is read as a whole
LONGEST_LINE = 16 << 20
MOST_BLANK = 10_000  # lines, which no file of ours has
RATIO, PADDING = 200, 16 << 20  # unpacked bytes per packed one, beyond the first ones
UNPACKING = 128 << 20  # bytes of memory, twice what the highest preset of xz needs


class Unusable(Exception):
    """A file that cannot be read; the message is for the user."""


def open_regular(path: Path) -> BinaryIO:
    """The file, open for reading. Raises Unusable for what is none, and OSError for what cannot be opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise Unusable("it is no file but a socket or a device: remove it") from None
        if error.errno == errno.ELOOP:
            raise Unusable("its symbolic links lead in a circle: remove them") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unusable("it is no file but a pipe, a device or a folder: remove it")
    return os.fdopen(descriptor, "rb")


def read_bytes(path: Path, most: int = LARGEST_WHOLE) -> bytes:
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise Unusable(f"it is larger than {most >> 20} MiB, as no file of its kind is")
    return content


def read_text(path: Path, most: int = LARGEST_WHOLE) -> str:
    return read_bytes(path, most).decode("utf-8")


def read_json(path: Path):
    return json.loads(read_text(path))


class _Xz:
    """The unpacked bytes of an xz file, which may be several behind each other, in bounded memory."""

    def __init__(self, file: BinaryIO):
        self._file, self._packed, self._stream = file, b"", None

    def readinto(self, buffer) -> int:
        while True:
            if self._stream is None or self._stream.eof:
                self._packed = (self._stream.unused_data if self._stream else b"") or self._file.read(1 << 16)
                if not self._packed:
                    return 0
                self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, UNPACKING)
            elif self._stream.needs_input:
                self._packed = self._file.read(1 << 16)
                if not self._packed:
                    raise EOFError("it ends too soon")
            unpacked = self._stream.decompress(self._packed, len(buffer))
            self._packed = b""
            if unpacked:
                buffer[:len(unpacked)] = unpacked
                return len(unpacked)


class _Bounded(io.RawIOBase):
    """The bytes of a file, unpacked if its name ends in ".xz" or ".gz", within the limits."""

    def __init__(self, path: Path):
        self._file = open_regular(path)
        self._unpacked = {".xz": _Xz, ".gz": lambda file: gzip.GzipFile(fileobj=file)}.get(path.suffix, lambda _: None)(self._file)
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            got = (self._unpacked or self._file).readinto(buffer)
        except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
            raise Unusable(f"it cannot be unpacked: {error}") from None
        self._read += got
        if self._read > LARGEST:
            raise Unusable(f"it holds more than {LARGEST >> 30} GiB")
        if self._unpacked and self._read > PADDING + RATIO * self._file.tell():
            raise Unusable(f"it unpacks to over {RATIO} times its size, as no records do")
        return got

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def lines(path: Path, errors: str = "strict") -> Iterator[str]:
    """The lines of a text in UTF-8, packed or not, each with its end. Raises Unusable beyond the limits."""
    with io.TextIOWrapper(io.BufferedReader(_Bounded(path), 1 << 16), encoding="utf-8", errors=errors, newline="") as stream:
        blank = 0
        while line := stream.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise Unusable(f"it has a line of more than {LONGEST_LINE >> 20} MiB")
            blank += not line.strip()
            if blank > MOST_BLANK:
                raise Unusable(f"it has more than {MOST_BLANK:,} empty lines")
            yield line
