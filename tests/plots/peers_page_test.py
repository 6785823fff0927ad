#!/usr/bin/python3
"""docs/performance/peers.md says which of our times are of earlier source than the variant has today."""

import lzma
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plots"))

from peers_page import of_earlier_source, peers_page  # noqa: E402

COLUMNS = ("family,variant,role,status,reason,problem,configuration,time_ns,time_lo_ns,time_hi_ns,bytes,ops,gb_per_s,"
           "gop_per_s,roofline_share,regret,elements")
CHOICE = ("problem,variant,configuration,time_ns,regret,reason,tree_device,tree_data,leaf,leaf_problems,other_leaf,conditions\n"
          "elements=8,{},default,1000,1,,key,ab12,0,6,0,\n")


def case(variant: str, role: str, source: str) -> dict:
    return {"family": "dot", "variant": variant, "role": role, "problem": "elements=8", "configuration": "default",
            "provenance": {"source_id": source}}


class EarlierSource(unittest.TestCase):
    def setUp(self):
        self.results = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.device = self.results / "key"
        (self.device / "peers").mkdir(parents=True)
        with lzma.open(self.device / "peers" / "dot.jsonl.xz", "wt") as journal:
            for line in ({"device": {}}, {"case": case("ours", "modern", "old")},
                         {"case": case("peer_cub", "peer", "old")}, {"case": case("gone", "modern", "old")}):
                print(json.dumps(line), file=journal)

    def stale(self, **today: str) -> set:
        return of_earlier_source(self.device, "dot", {("dot", name): source for name, source in today.items()})

    def test_is_of_ours_that_changed_alone(self):
        self.assertEqual(self.stale(ours="new", peer_cub="new"), {("ours", "elements=8", "default")})
        self.assertEqual(self.stale(ours="old", peer_cub="new"), set())
        self.assertEqual(of_earlier_source(self.device, "knn", {("knn", "ours"): "new"}), set())

    def test_journals_may_lie_unpacked(self):
        packed = self.device / "peers" / "dot.jsonl.xz"
        (self.device / "peers" / "dot.jsonl").write_bytes(lzma.decompress(packed.read_bytes()))
        packed.unlink()
        self.assertEqual(self.stale(ours="new"), {("ours", "elements=8", "default")})

    def test_is_not_of_times_whose_source_was_not_recorded(self):
        with lzma.open(self.device / "peers" / "dot.jsonl.xz", "wt") as journal:
            print(json.dumps({"case": case("ours", "modern", "")}), file=journal)
        self.assertEqual(self.stale(ours="new"), set())

    def test_may_hold_still_for_this_very_source(self):
        (self.device / "known_stale.json").write_text(
            json.dumps({"variants": {"dot/ours": {"source_id": "new", "reason": "the same machine code"}}}))
        self.assertEqual(self.stale(ours="new"), set())
        self.assertEqual(self.stale(ours="newer"), {("ours", "elements=8", "default")})

    def test_is_said_in_the_row(self):
        exports = self.results / "exports"
        (exports / "key/peers").mkdir(parents=True)
        (exports / "key/peers/dot.csv").write_text(
            f"{COLUMNS}\n"
            "dot,ours,modern,ok,,elements=8,default,1000,1000,1000,64,8,0.064,0.008,1,1,8\n"
            "dot,peer_cub,peer,ok,,elements=8,default,3000,3000,3000,64,8,0.021,0.003,0.3,3,8\n")
        choices = exports / "key/peers/choices/dot.csv"
        choices.parent.mkdir()
        choices.write_text(CHOICE.format("ours"))
        row = "| `elements=8` | ours{} | 0.001 | cub 0.003 | 3.00 |"
        self.assertIn(row.format(", earlier source"), peers_page([self.device], exports, {("dot", "ours"): "new"}))
        self.assertIn(row.format(""), peers_page([self.device], exports, {("dot", "ours"): "old"}))
        choices.write_text(CHOICE.format("newer"))  # which was not timed beside the peers
        self.assertNotIn("elements=8", peers_page([self.device], exports, {("dot", "ours"): "old"}))


if __name__ == "__main__":
    unittest.main()
