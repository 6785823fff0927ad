"""Whether two object files hold the same machine code, whatever its functions are called and whichever order they have.

Both are to be compiled with -ffunction-sections and -fdata-sections, so that every function is a section and every call
from one to another a relocation.
"""

import collections
import hashlib
import pathlib
import struct

ALLOCATED, IS_STRINGS, IS_MERGED = 2, 0x20, 0x10
# What no instruction reads: where exceptions unwind to, names of types, the names by which a host object registers its
# kernels, and the kernels' code, which is compared as an object of its own.
LEFT_OUT = (".eh_frame", ".gcc_except_table", ".note", ".rodata._ZTS", ".nv_fatbin", ".nvFatBinSegment",
            "__nv_module_id", ".nv.info", ".nv.compat", ".nv.callgraph")

Section = collections.namedtuple("Section", "name kind flags at size link info entry bytes")
Symbol = collections.namedtuple("Symbol", "name section value")
Relocation = collections.namedtuple("Relocation", "at kind symbol addend")


def text_at(table, at):
    return table[at:table.index(b"\0", at)].decode()


def sections_of(data):
    """The sections of an ELF file of 64 bits, little-endian."""
    if data[:6] != b"\x7fELF\2\1":
        raise ValueError("no ELF file of 64 bits, little-endian")
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    if count == 0:  # more than the header has room for: the first section says how many
        count, = struct.unpack_from("<Q", data, start + 0x20)
    if names == 0xFFFF:
        names, = struct.unpack_from("<I", data, start + 0x28)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    table = data[headers[names][4]:][:headers[names][5]]
    return [Section(text_at(table, h[0]), h[1], h[2], h[4], h[5], h[6], h[7], h[9],
                    b"" if h[1] == 8 else data[h[4]:h[4] + h[5]]) for h in headers]


def symbols_of(sections):
    for table in (s for s in sections if s.kind == 2):
        names = sections[table.link].bytes
        for at in range(0, table.size, 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", table.bytes, at)
            yield Symbol(text_at(names, name), section, value)


def relocations_of(sections):
    """By the number of the section that they change."""
    found = collections.defaultdict(list)
    for table in (s for s in sections if s.kind in (4, 9)):
        for entry in struct.iter_unpack("<QQq" if table.kind == 4 else "<QQ", table.bytes):
            found[table.info].append(
                Relocation(entry[0], entry[1] & 0xFFFFFFFF, entry[1] >> 32, entry[2] if table.kind == 4 else 0))
    return found


class Code:
    """The sections that a processor reads, each with a hash of what it holds and of what it refers to."""

    def __init__(self, path):
        self.sections = sections_of(pathlib.Path(path).read_bytes())
        self.symbols = list(symbols_of(self.sections))
        self.relocations = relocations_of(self.sections)
        self.read = [i for i, s in enumerate(self.sections)
                     if s.flags & ALLOCATED and s.size and not s.name.startswith(LEFT_OUT)
                     and not s.flags & (IS_STRINGS | IS_MERGED)]
        self.own = {i: self.hash_of(i, {}) for i in self.read}
        self.hashes = self.own
        for _ in range(8):  # each time what lies one reference further is in the hash
            self.hashes = {i: self.hash_of(i, self.hashes) for i in self.read}

    def hash_of(self, number, hashes):
        section = self.sections[number]
        # The upper half of a kernel's info is its count of registers.
        registers = section.info >> 24 if section.name.startswith(".text") else 0
        parts = [section.flags & ~0x200, registers, section.size, section.bytes]
        parts += [(r.at, r.kind, r.addend, self.meaning(self.symbols[r.symbol], r.addend, hashes))
                  for r in sorted(self.relocations[number])]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def meaning(self, symbol, addend, hashes):
        """What a relocation leads to, without the names of what this object defines."""
        if not 0 < symbol.section < len(self.sections):
            return symbol.name
        section = self.sections[symbol.section]
        if section.flags & (IS_STRINGS | IS_MERGED):  # its order is the compiler's: only the value counts
            end = symbol.value + section.entry
            if section.flags & IS_STRINGS:
                end = section.bytes.index(b"\0", symbol.value)
            value = section.bytes[symbol.value:end]
            return "a name" if value.startswith(b"_Z") else value
        return hashes.get(symbol.section, ""), symbol.value


def left_over(one, other, hashes):
    """The names of the sections of each of two `Code`s whose hash the other does not have."""
    counts = [collections.Counter(getattr(code, hashes).values()) for code in (one, other)]
    return [sorted(code.sections[i].name for i, value in getattr(code, hashes).items() if value in left)
            for code, left in ((one, counts[0] - counts[1]), (other, counts[1] - counts[0]))]


def differences(one, other):
    """The same, or nothing twice if all is equal: those that differ themselves, else those that refer to others."""
    own = left_over(one, other, "own")
    return own if any(own) else left_over(one, other, "hashes")
