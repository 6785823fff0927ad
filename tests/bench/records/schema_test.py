"""Checks what a sweep writes against results/schema/*.schema.json, and the schemas against what they must refuse.

usage: schema_test.py PROGRAM SCHEMAS
"""

import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import records as packed  # noqa: E402


def load(folder: Path) -> dict[str, jsonschema.Draft202012Validator]:
    validators = {}
    for path in sorted(folder.glob("*.schema.json")):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[path.name.split(".")[0]] = jsonschema.Draft202012Validator(schema)
    return validators


def objects(value, path=()):
    """Every JSON object in `value` that has a fixed set of members, with the way to it."""
    if isinstance(value, dict):
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if key not in ("conditions", "counters"):
            yield from objects(child, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


# What may be left out: `amx_bf16` came later, and of cases the lines of packed files have no checksum.
OPTIONAL = {"device": ("device", "amx_bf16"), "case": ("crc32",)}


def mutations(kind, record):
    for path in objects(record):
        for member in at(record, path):
            changed = copy.deepcopy(record)
            del at(changed, path)[member]
            if (*path, member) != OPTIONAL.get(kind):
                yield f"without {'.'.join(map(str, (*path, member)))}", changed
            changed = copy.deepcopy(record)
            at(changed, path)[member] = None
            yield f"null as {'.'.join(map(str, (*path, member)))}", changed
        changed = copy.deepcopy(record)
        at(changed, path)["unknown"] = 1
        yield f"more in {'.'.join(map(str, path))}", changed


def shared_lines(schema, cases):
    """What is wrong with what the schema says of the lines of packed files."""
    lines = packed.together(sorted(cases, key=lambda case: (case["problem"], case["variant"])))
    line = max(lines, key=lambda line: len(json.dumps(line)))
    if not any("cases" in one for one in line.get("cases", [])):
        return ["the cases of a problem share nothing"]
    faults = [error.message for error in schema.iter_errors({"schema": "espalier.case/1", "case": line})]
    for what, changed in {"none": {"cases": []}, "samples of all": {"samples_ns": [1]}, "more": {"unknown": 1},
                          "more of one": {"cases": [{"unknown": 1}]}, "no list": {"cases": {}}}.items():
        if schema.is_valid({"schema": "espalier.case/1", "case": line | changed}):
            faults.append(f"the schema allows a line of several cases: {what}")
    return faults


def main() -> int:
    program, schemas = sys.argv[1], load(Path(sys.argv[2]))
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["sweep", "--quick", "--noise", "20%", "-p", "size=100", "--variant"]
        arguments += ["right_baseline,declines,aborts,one_element", "--output", folder, "--results", f"{folder}/results"]
        subprocess.run([program, *arguments, "--quiet"], timeout=120, check=False)
        files = sorted(Path(folder).rglob("*.json*"))
        records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    seen = {}
    for record in records:
        kind = record["schema"].split(".")[1].split("/")[0]
        seen.setdefault(kind, record)
        faults += [f"{kind}: {error.json_path}: {error.message}" for error in schemas[kind].iter_errors(record)]
    if set(seen) != {"case", "coverage", "device", "plan"}:
        faults.append(f"the sweep wrote records of {sorted(seen)} alone")
    faults += shared_lines(schemas["case"], [record["case"] for record in records if record["schema"] == "espalier.case/1"])
    refused = 0
    for kind, record in seen.items():
        for what, changed in mutations(kind, record):
            refused += 1
            if schemas[kind].is_valid(changed):
                faults.append(f"the schema of {kind} allows a record {what}")
    print(f"{len(records)} records valid, {refused} mutations tried, {len(faults)} faults")
    print("\n".join(faults[:20]))
    return 1 if faults or not records else 0


sys.exit(main())
