#!/usr/bin/python3
"""Doxygen's filter for the C++ headers: makes its commands of their prose, so that it checks what readers read.

usage: prose.py HEADER     (prints it; line numbers stay)

The headers say what a function takes in sentences that name its parameters in backticks. Of each parameter that a
docstring names so, this makes a `@param` with that sentence. Doxygen then finds the others undocumented, which is an error
(tests/kernels/library/reference_test.py). Not named again each time:
- parameters of STANDARD, which mean the same everywhere;
- those of another function of the header that the docstring names in backticks ("Does what `dot_product` does.") or calls
  "the same": they are what they are there.
"""

import re
import sys

STANDARD = {
    "device": "where it runs.",
    "options": "how it is carried out.",
    "planning": "how the plan finds what it runs.",
    "shape": "the sizes of its arrays.",
    "stream": "a queue of the device's GPU; null for the CPU.",
    "workspace": "memory of the device for this run, as much as `workspace_bytes()` says and aligned as `Plan` asks.",
}
DOC = re.compile(r"\s*///(?!<)")
TRAILING = re.compile(r"^(?P<code>\s*[^/]*\)[^/]*;\s*)///<\s*(?P<text>.*)$")
NO_FUNCTION = re.compile(r"\s*(class|struct|enum|union|namespace|using|template\s*<[^>]*>\s*(class|struct))\b|[^(]*=[^(]*\(")
NAME = re.compile(r"(?:operator\s*(?P<operator>[^\s(]+|\(\))|(?P<name>~?\w+))\s*\((?=.*\))", re.S)
SENTENCE_END = re.compile(r"(?<=[.;])\s+(?=[A-Z`])")


def without_nested(text: str) -> list[str]:
    """The parameters of a list, split at commas that stand in no brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p for p in parts + [part] if p.strip()]


def signature(declaration: str) -> tuple[str, str, list[str]] | None:
    """What a declaration returns, its function's name, and the names of its parameters."""
    text = re.sub(r"\[\[\w+\]\]|ESPALIER_API|//.*", " ", declaration)
    if NO_FUNCTION.match(text) or not (found := NAME.search(text)):
        return None
    depth, end = 0, found.end() - 1
    for end in range(found.end() - 1, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            break
    names = []
    for parameter in without_nested(text[found.end():end]):
        identifiers = re.findall(r"\w+", parameter.split("=")[0])
        if len(identifiers) > 1:  # the last one is the name, if it is not all of the type
            names.append(identifiers[-1])
    returns = re.sub(r"\b(static|constexpr|inline|explicit|friend|const|virtual)\b|template\s*<[^>]*>", " ",
                     text[:found.start()])
    return " ".join(returns.split()), found["name"] or found["operator"], names


def declaration_from(lines: list[str], start: int) -> str:
    """The declaration that begins there, up to its end or its body."""
    text = ""
    for line in lines[start:start + 12]:
        text += line.split("//")[0] + "\n"
        if text.count("(") == text.count(")") and re.search(r"[;{]", line):
            break
    return text


def sentence_about(name: str, doc: str) -> str | None:
    for sentence in SENTENCE_END.split(doc):
        if f"`{name}" in sentence and re.search(rf"`{name}\b", sentence):
            return sentence.lstrip("- ")
    return None


def of_others(name: str, doc: str, functions: dict[str, set[str]]) -> str | None:
    for other in re.findall(r"`(\w+)`", doc):
        if name in functions.get(other, ()):
            return f"as of `{other}`."
    return None


def commands(doc: str, returns: str, names: list[str], functions: dict[str, set[str]], same: set[str]) -> str:
    made = ""
    for name in names:
        text = sentence_about(name, doc) or STANDARD.get(name) or of_others(name, doc, functions)
        if not text and name in same:
            text = "the same."
        if text:
            made += f" @param {name} {text}"
    if returns.startswith("Result<void>"):
        made += " @return nothing, or the error."
    elif returns.startswith("Result<"):
        made += " @return the value, or the error."
    elif returns and not returns.endswith("void"):
        made += " @return what is said of it."
    return made


def filtered(text: str) -> str:
    text = re.sub(r"namespace espalier::inline v\d+", "namespace espalier", text)
    text = re.sub(r"^\s*using (\w+)::\1;$", "", text, flags=re.M)  # constructors that a base documents
    text = re.sub(r"^struct \w+;$", "", text, flags=re.M)  # the inside of a handle
    lines = text.split("\n")
    functions: dict[str, set[str]] = {}
    for i, line in enumerate(lines):
        if i and DOC.match(lines[i - 1]) and not DOC.match(line):
            if found := signature(declaration_from(lines, i)):
                functions.setdefault(found[1], set()).update(found[2])
    before: set[str] = set()
    doc: list[str] = []
    for i, line in enumerate(lines):
        if DOC.match(line):
            doc.append(line.strip()[3:].strip())
            continue
        if doc and (found := signature(declaration_from(lines, i))):
            prose = " ".join(doc)
            same = before if re.search(r"\b[Tt]he same\b|\bas above\b", prose) else set()
            lines[i - 1] += commands(prose, found[0], found[2], functions, same)
            before = set(found[2])
        elif trailing := TRAILING.match(line):
            if (found := signature(trailing["code"])) and found[0] not in ("", "void"):
                lines[i] += f" @return {trailing['text']}."
        doc = []
    return "\n".join(lines)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print(filtered(header.read()), end="")
