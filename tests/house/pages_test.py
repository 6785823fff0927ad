#!/usr/bin/python3
"""Pages lead to what is there: links, anchors, paths that they name, and pages that code names. They are short where a
newcomer walks, and no sentence has a clause for its subject.

usage: pages_test.py
"""

import re
import unittest
from pathlib import Path

from own_files import ROOT, own_files

KILOBYTE = 1024
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:kernels|harness|variants|reference_cpu|tests|scripts|plots|cmake|docs)/[\w./-]+)`")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
CLAUSE = re.compile(r"(?:^|[.:;!?] |\*\* |\| |- )((?:What|Who|Whoever|Whatever|Whichever) [^.?!|]*[.!])")
# From README to a variant, a record and a tree.
WALK = ["README.md", "CONTRIBUTING.md", "docs/README.md", "docs/quickstart.md", "docs/glossary.md", "docs/architecture.md",
        "docs/files.md", "docs/measuring.md", "docs/selectors.md", "docs/library.md", "docs/library-calls.md",
        "docs/library-choice.md", "docs/tutorials/first-sweep.md", "docs/tutorials/first-variant.md",
        "docs/tutorials/first-program.md", "docs/tutorials/new-gpu.md"]


def pages() -> list[Path]:
    return [path for path in own_files() if path.suffix == ".md"]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def is_there(name: str) -> bool:
    """A file, a folder, or a program whose source it is."""
    return (ROOT / name).exists() or any((ROOT / name).parent.glob(f"{Path(name).name}.*"))


class Pages(unittest.TestCase):
    maxDiff = None

    def test_links_lead_somewhere(self):
        broken = []
        for page in pages():
            for link in LINK.findall(prose(page)):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                    broken.append(f"{page.relative_to(ROOT)}: {link}")
        self.assertEqual(broken, [])

    def test_named_paths_exist(self):
        gone = [f"{page.relative_to(ROOT)}: {name}" for page in pages() if page.name != "CHANGELOG.md"
                for name in NAMED.findall(prose(page)) if not is_there(name)]
        self.assertEqual(gone, [])

    def test_code_names_pages_that_exist(self):
        gone = []
        for path in own_files():
            if path.suffix in (".md", ".xz", ".png", ".tree") or path == Path(__file__).resolve():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            gone += [f"{path.relative_to(ROOT)}: {name}" for name in PAGE.findall(text) if not (ROOT / name).exists()]
        self.assertEqual(gone, [])

    def test_a_newcomer_walks_past_short_pages(self):
        long = {name: size for name in WALK if (size := (ROOT / name).stat().st_size) > 8 * KILOBYTE}
        self.assertEqual(long, {})

    def test_no_clause_is_a_subject(self):
        found = [f"{page.relative_to(ROOT)}: {sentence}" for page in pages() if page.name != "CHANGELOG.md"
                 for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*|#\d])", prose(page)) if not paragraph.startswith("#")
                 for sentence in CLAUSE.findall(" ".join(paragraph.split()))]
        self.assertEqual(found, [])

    def test_the_index_names_every_page(self):
        index = prose(ROOT / "docs/README.md")
        listed = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in LINK.findall(index)}
        of_docs = {page for page in pages() if page.is_relative_to(ROOT / "docs")}
        of_performance = {page for page in of_docs if page.parent.name == "performance"}
        self.assertEqual(of_docs - of_performance - listed, {ROOT / "docs/README.md"})
        named = set(LINK.findall(prose(ROOT / "docs/performance/README.md")))
        self.assertEqual({page.name for page in of_performance} - named, {"README.md"})


if __name__ == "__main__":
    unittest.main()
