#!/usr/bin/python3
"""docs/performance/peers.md has a row of every problem whose choice was timed beside the peers, and counts the others."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plots"))

from peers_page import peers_page  # noqa: E402

COLUMNS = ("family,variant,role,status,reason,problem,configuration,time_ns,time_lo_ns,time_hi_ns,bytes,ops,gb_per_s,"
           "gop_per_s,roofline_share,regret,elements")
CHOICE = ("problem,variant,configuration,time_ns,regret,reason,earlier_source,tree_device,leaf,leaf_problems,other_leaf,"
          "conditions\nelements=8,{},default,1000,1,,{},key,0,6,0,\n")


class Rows(unittest.TestCase):
    def test_are_of_choices_that_were_timed(self):
        exports = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (exports / "key/peers/choices").mkdir(parents=True)
        (exports / "key/peers/dot.csv").write_text(
            f"{COLUMNS}\n"
            "dot,ours,modern,ok,,elements=8,default,1000,1000,1000,64,8,0.064,0.008,1,1,8\n"
            "dot,peer_cub,peer,ok,,elements=8,default,3000,3000,3000,64,8,0.021,0.003,0.3,3,8\n")

        def page(variant: str, earlier: str) -> str:
            (exports / "key/peers/choices/dot.csv").write_text(CHOICE.format(variant, earlier))
            return peers_page([exports / "key"], exports)

        row = "| dot | 1 of 1 | 3.00 | `elements=8` | ours 0.001{} | cub 0.003 |"
        self.assertIn(row.format(""), page("ours", "0"))
        self.assertNotIn("Earlier source", page("ours", "0"))
        self.assertIn(row.format(", earlier source"), page("ours", "1"))
        self.assertIn("*Earlier source*: our variant has changed since", page("ours", "1"))
        self.assertIn("| key | dot | 0 of 0, 1 untimed | – | – | – | – |", page("newer", ""))
        self.assertNotIn("elements=8", page("newer", ""))

    def test_say_what_data_cost_and_where_peers_are_right(self):
        exports = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (exports / "key/peers/choices").mkdir(parents=True)
        names = "queries", "points", "dims", "k"
        cases, choices = [COLUMNS.replace("elements", ",".join(names))], [CHOICE.splitlines()[0]]
        for data, ours, peer, status in (("continuous", 1000, 3000, "ok"), ("clusters", 2500, 5000, "ok"),
                                         ("times", 4000, 1000, "wrong")):
            problem = f"queries=10;points=2000;dims=4;k=3;metric=euclidean;data={data}"
            times, size = "{0},{0},{0},64,8,0,0,1,1", "10,2000,4,3"
            cases.append(f"knn,ours,modern,ok,,{problem},default,{times.format(ours)},{size}")
            cases.append(f"knn,peer_torch,peer,{status},,{problem},default,{times.format(peer)},{size}")
            choices.append(CHOICE.splitlines()[1].format("ours", "0").replace("elements=8", problem))
        (exports / "key/peers/knn.csv").write_text("\n".join(cases) + "\n")
        (exports / "key/peers/choices/knn.csv").write_text("\n".join(choices) + "\n")
        page = peers_page([exports / "key"], exports)
        self.assertIn("| key | 10x2000x4:3 | 3 | 0.001 uniform, 0.004 times | 4.00 | 2.00 (2) |", page)
        self.assertIn("| knn | 2 of 2 | 2.00–3.00 |", page)


if __name__ == "__main__":
    unittest.main()
