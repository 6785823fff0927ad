#!/usr/bin/env python3
"""Shows which variants have other source than a commit had, but the same machine code: their times still hold.

usage: scripts/same_code.py [--build FOLDER] [--enter] [--base COMMIT]... [FAMILY/VARIANT...]

Compiles each variant as it is in the working tree and as it was in each commit (HEAD unless said), with the command
that the configured build FOLDER (build/host, or build/cuda for GPU variants) has for it, and compares instructions,
constants and what they refer to (scripts/machine_code.py). Without names: all variants of that build whose source
changed. Of GPU variants the kernels decide; what differs in the code that launches them is said.

With --enter those that are equal are entered into results/<device-key>/known_stale.json, where the records are of the
sources that were compared, or of one that is entered there already. Exit status 1: some code differs.
"""

import argparse
import concurrent.futures
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import machine_code
import records

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_REASON = 1024  # harness/bench/records/stale.cpp


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def source_ids(root, build, family):
    """As espalier_hash_sources() of this tree hashes the sources of a tree."""
    files = sorted(path for end in ("cpp", "cu") for path in (root / "variants" / family).rglob(f"*.{end}"))
    output = pathlib.Path(build) / "source_ids.hpp"
    run("cmake", f"-DSOURCES={';'.join(map(str, files))}", f"-DROOTS={root}", "-DINSIDE=variants|kernels/problems",
        f"-DOUTPUT={output}", f"-DFAMILY={family}", "-P", str(ROOT / "cmake/SourceIds.cmake"))
    return ids_in(output)


def ids_in(header):
    """The identities that a generated header has, by variant."""
    return dict(re.findall(r"string_view (\w+) = \"([0-9a-f]+)\"", header.read_text()))


def commands_of(build):
    """The command that compiles each variant for its own kind of device, by family/variant."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT / "variants") and (path.suffix == ".cpp" or "nvcc" in entry["command"]):
            commands[f"{path.relative_to(ROOT / 'variants').parts[0]}/{path.stem}"] = entry
    return commands


def compile_in(root, build, entry, folder):
    """The objects of a variant as a tree has it: the host's, and one for each architecture of a GPU."""
    folder.mkdir(parents=True)
    words = [re.sub(rf"{re.escape(str(ROOT))}(?!/{re.escape(str(build.relative_to(ROOT)))}/)(?=/|$)", str(root), word)
             for word in shlex.split(entry["command"])]
    words[words.index("-o") + 1] = str(folder / "host.o")
    sections = ["-ffunction-sections", "-fdata-sections"]
    if "nvcc" in entry["command"]:
        words += ["-Xcompiler=" + ",".join(sections), "--keep", "--keep-dir", str(folder)]
    else:
        words += sections
    result = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{entry['file']} of {root} does not compile:\n{result.stderr}")
    return [folder / "host.o", *sorted(folder.glob("*.cubin"))]


def compare(base, build, entry, folder):
    """What differs in the code that is measured, and in the host's that launches a GPU's: both empty if nothing."""
    objects = [compile_in(tree, build, entry, folder / name) for name, tree in (("before", base), ("now", ROOT))]
    if len(objects[0]) != len(objects[1]):
        return "compiled for other architectures", ""
    texts = []
    for pair in zip(*objects):
        names = machine_code.differences(*map(machine_code.Code, pair))
        texts.append("; ".join(f"{len(some)} sections {when} only: {' '.join(some[:4])}"
                               for when, some in zip(("before", "now"), names) if some))
    host, *kernels = texts
    return ("; ".join(filter(None, kernels)), host) if kernels else (host, "")


@functools.cache
def sources_measured(results):
    """The sources of a file of results, by variant."""
    measured = {}
    for case in records.read_cases(results):
        measured.setdefault(case["variant"], set()).add(case["provenance"]["source_id"])
    return measured


def enter(variant, befores, now, evidence):
    """Notes in the results of every device whose records are of the sources `befores` that they hold for `now`."""
    family, name = variant.split("/")
    for results in sorted((ROOT / "results").glob(f"*/{family}.jsonl.xz")):
        measured = sources_measured(results).get(name, set())
        path = results.parent / "known_stale.json"
        known = json.loads(path.read_text()) if path.exists() else {"schema": "espalier.known_stale/1", "variants": {}}
        entry = known["variants"].get(variant, {"source_id": "", "reason": ""})
        if entry["source_id"] == now or not measured - {now}:
            continue
        if entry["source_id"] in befores:
            reason = f"{entry['reason'].rstrip('.')}; since then: {evidence[0].lower()}{evidence[1:]}"
        elif measured <= {now, *befores}:
            reason = evidence
        else:
            print(f"  {results.parent.name}: not entered, its records are of yet other source")
            continue
        if len(reason) > MOST_REASON:
            sys.exit(f"{path}: the reason of {variant} has more than {MOST_REASON} characters: shorten it")
        known["variants"] = dict(sorted((known["variants"] | {variant: {"source_id": now, "reason": reason}}).items()))
        path.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n")
        print(f"  {results.parent.name}: entered")


def tree_of(commit, folder):
    """The files of a commit, in a folder of their own."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive, check=True)
    return folder


def ids_of(trees, families, folder):
    """The sources of the variants that all trees have, in the order of the trees."""
    ids = {}
    for family in families:
        of_trees = [source_ids(tree, folder, family) for tree in trees]
        ids |= {f"{family}/{name}": tuple(of[name] for of in of_trees)
                for name in of_trees[0] if all(name in of for of in of_trees)}
    return ids


def compare_all(bases, build, entry, folder):
    """What differs from any of the trees, and in what launches a GPU's kernels, each by the commit of its tree."""
    differences, launching = {}, {}
    for commit, tree in bases.items():
        differs, launches = compare(tree, build, entry, folder / commit)
        if differs:
            differences[commit] = differs
        if launches:
            launching[commit] = launches
    return differences, launching


def main():
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", action="append", metavar="COMMIT")
    parser.add_argument("--build", default="build/host", metavar="FOLDER")
    parser.add_argument("--enter", action="store_true", help="enter the variants that are equal into known_stale.json")
    parser.add_argument("variants", nargs="*", metavar="FAMILY/VARIANT")
    arguments = parser.parse_args()
    build = (ROOT / arguments.build).resolve()
    commits = [run("git", "rev-parse", "--short", base, cwd=ROOT).strip() for base in arguments.base or ["HEAD"]]
    command = "scripts/same_code.py" + "".join(f" --base {commit}" for commit in commits)
    commands = commands_of(build)
    differ = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        bases = {commit: tree_of(commit, folder / commit) for commit in commits}
        families = sorted({variant.split("/")[0] for variant in arguments.variants or commands})
        ids = ids_of((*bases.values(), ROOT), families, folder)
        chosen = arguments.variants or sorted(v for v in commands if v in ids and len(set(ids[v])) > 1)
        if unknown := [variant for variant in chosen if variant not in commands or variant not in ids]:
            sys.exit(f"{', '.join(unknown)}: not in all trees, or not compiled by {arguments.build}")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda v: compare_all(bases, build, commands[v], folder / "objects" / v), chosen)
            for variant, (differences, launching) in zip(chosen, found):
                print(f"{variant}: {'DIFFERS' if differences else 'the same machine code'}", flush=True)
                for commit, difference in differences.items():
                    print(f"  from {commit}: {difference}")
                for commit, difference in launching.items():
                    print(f"  the code that launches its kernels is another than that of {commit}: {difference}")
                differ |= bool(differences)
                if arguments.enter and not differences:
                    *befores, now = ids[variant]
                    whose = "Its kernels'" if "nvcc" in commands[variant]["command"] else "Its"
                    sources = ", ".join(before[:12] for before in befores)
                    enter(variant, befores, now, f"{whose} machine code is the same as that of source {sources}: "
                                                 f"{command}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
