#!/usr/bin/python3
"""docs/performance/peers.md has a row of every problem whose choice was timed beside the peers."""

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
        self.assertIn(row.format(", earlier source"), page("ours", "1"))
        self.assertNotIn("elements=8", page("newer", ""))


if __name__ == "__main__":
    unittest.main()
