"""scripts/machine_code.py: names and order of functions make no difference, everything that is executed does; and
scripts/same_code.py knows a source by the name that the build gives it.

usage: machine_code_test.py COMPILER GENERATED
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import machine_code  # noqa: E402
import same_code  # noqa: E402

CALLEE = "__attribute__((noinline)) static int add(int a) { return a + %d; }\n"
CALLER = "int twice(int a) { return 2 * add(a); }\n"
TEXT = 'extern "C" int puts(const char*);\nvoid greet() { puts("%s"); }\n'


class MachineCode(unittest.TestCase):
    def differences(self, one, other):
        with tempfile.TemporaryDirectory() as folder:
            codes = []
            for name, source in (("one", one), ("other", other)):
                path = pathlib.Path(folder) / f"{name}.o"
                subprocess.run([COMPILER, "-x", "c++", "-O2", "-ffunction-sections", "-fdata-sections", "-c", "-", "-o",
                                path], input=source, text=True, check=True)
                codes.append(machine_code.Code(path))
            return machine_code.differences(*codes)

    def test_names_and_order(self):
        one = CALLEE % 1 + CALLER + TEXT % "good day"
        other = TEXT % "good day" + one.split("extern")[0].replace("add", "sum").replace("twice", "doubled")
        self.assertEqual(self.differences(one, other), [[], []])

    def test_another_constant_in_a_callee(self):
        before, now = self.differences(CALLEE % 1 + CALLER, CALLEE % 2 + CALLER)
        self.assertEqual((len(before), len(now)), (1, 1))
        self.assertIn("add", now[0])

    def test_another_callee(self):
        two = CALLEE % 1 + (CALLEE % 2).replace("add", "other")
        both = "int use(int a) { return %s(%s(a)); }\n"
        before, now = self.differences(two + both % ("add", "other"), two + both % ("other", "add"))
        self.assertEqual([len(names) for names in (before, now)], [1, 1])
        self.assertIn("use", now[0])

    def test_another_text(self):
        before, now = self.differences(TEXT % "good day", TEXT % "good bye")
        self.assertEqual([len(names) for names in (before, now)], [1, 1])
        self.assertIn("greet", now[0])

    def test_what_is_no_object(self):
        with self.assertRaises(ValueError):
            machine_code.Code(__file__)


class SourceIds(unittest.TestCase):
    def test_are_those_of_the_build(self):
        with tempfile.TemporaryDirectory() as folder:
            ids = same_code.source_ids(same_code.ROOT, folder, "knn")
        of_build = same_code.ids_in(GENERATED / "registries/knn/source_ids.hpp")
        self.assertIn("cpu_two_stage", of_build)
        self.assertEqual({name: ids[name] for name in of_build}, of_build)


if __name__ == "__main__":
    GENERATED = pathlib.Path(sys.argv.pop(2))
    COMPILER = sys.argv.pop(1)
    unittest.main()
