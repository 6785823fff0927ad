"""Runs espalier_peers inside this Python, so that the sweep can call peers that have a Python API.

usage: launcher.py ESPALIER_PEERS.so ARGUMENTS...
       launcher.py --versions FAMILY...: the versions of what its peers import, as JSON

A peer is harness/bench/peers/<family>/<name>.py with MODULES, what it imports, and
    supports(problem) -> why it declines the problem, or ""; may be missing
    prepare(problem, arrays) -> a function that computes once, all work done or in the default stream when it returns
`problem` is a dictionary of the key's axes, numbers where they are; `arrays` are the addresses of the family's Buffers,
in their order. What `prepare` gives is kept while problem and arrays stay: views, but nothing computed from values.
"""

import ctypes
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import sys

PEERS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PEERS / "python"))  # arrays.py
CALLBACK = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p,
                             ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_size_t)


@functools.cache
def module_of(peer):
    path = PEERS / (peer + ".py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value_of(text):
    try:
        return int(text)
    except ValueError:
        return text


def problem_of(key):
    return {name: value_of(value) for name, _, value in (part.partition("=") for part in key.split(";"))}


def lacking(module):
    return [name for name in module.MODULES if importlib.util.find_spec(name) is None]


@functools.cache
def reason_against(peer, key):
    module = module_of(peer)
    if missing := lacking(module):
        return f"needs the Python module {', '.join(missing)}"
    return module.supports(problem_of(key)) if hasattr(module, "supports") else ""


@functools.lru_cache(maxsize=32)
def prepared(peer, key, arrays):
    return module_of(peer).prepare(problem_of(key), arrays)


def do(task, peer, key, arrays):
    if task == "supports":
        return reason_against(peer, key)
    # The members of Buffers: as many as the peer's family has.
    prepared(peer, key, tuple(arrays[i] for i in range(module_of(peer).ARRAYS)))()
    return ""


def call(task, peer, key, arrays, message, room):
    """Never raises: there is C++ on the other side."""
    try:
        reason = do(task.decode(), peer.decode(), key.decode(), arrays)
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
    if not reason:
        return 0
    text = reason.encode()[:room - 1] + b"\0"
    ctypes.memmove(message, text, len(text))
    return 1


def words(values):
    return (ctypes.c_char_p * (len(values) + 1))(*(os.fsencode(value) for value in values), None)


def versions(families):
    """Of everything that a peer of these families imports here."""
    found = {"python": sys.version.split()[0]}
    for path in sorted(PEERS.glob("*/peer_*.py")):
        if path.parent.name not in families:
            continue
        module = module_of(f"{path.parent.name}/{path.stem}")
        for name in set(module.MODULES) - set(lacking(module)):
            found[name] = getattr(importlib.import_module(name), "__version__", "unknown")
    return found


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if sys.argv[1] == "--versions":
        return print(json.dumps(versions(sys.argv[2:]), sort_keys=True))
    # The interpreter's lock stays with the caller throughout: who is called back has it.
    library = ctypes.PyDLL(sys.argv[1])
    callback = CALLBACK(call)
    arguments = ["espalier_peers", *sys.argv[2:]]
    launcher = [sys.executable, os.path.abspath(__file__), os.path.abspath(sys.argv[1])]
    return library.espalier_peers_main(len(arguments), words(arguments), words(launcher), callback)


if __name__ == "__main__":
    sys.exit(main())
