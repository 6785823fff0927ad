"""Rows 13, 14, 15, 23, 24, 32, 34, 35 and 38: what users hand to the library and to the commands."""

import json
import os
from pathlib import Path

from injection import Machine, Outcome, gtest, run, sealed


def count_tests(outcome: Outcome, results: dict[str, dict], property_name: str | None = None) -> None:
    """One fault per test, or as many as it says that it injected. A skipped test injected nothing."""
    for name, test in results.items():
        if test["skipped"]:
            continue
        times = int(test.get(property_name, 1)) if property_name else 1
        if times or not test["passed"]:
            outcome.count(test["passed"], f"{name}: {test['message'][:300]}", max(times, 1))


def row_13(machine: Machine) -> Outcome:
    """NaN, infinities, denormals, ties, k = 0, k >= n, n = 0 and 1: every variant on every edge case."""
    outcome = Outcome()
    if machine.device == "cpu":
        selection = "Variants/EveryVariant.*" + ("/*cpu_*" if machine.quick else "")
        count_tests(outcome, gtest(machine, "variants_test", selection, 1800), "runs")
    else:
        count_tests(outcome, gtest(machine, "variants_gpu_test", "Variants/EveryVariant.*-*cpu_*", 1800), "runs")
    return outcome


# Problems beyond 2^31 bytes and values. The large ones fit a machine of 16 GiB and are computed: counters of 32 bits
# would overflow.
LARGE = [("histogram", "bytes=2147483649"), ("histogram", "bytes=4294967297")]
HUGE = [("histogram", "bytes=1099511627776"), ("dot", "elements=1099511627776"), ("convolution_2d", "width=1073741824",
        "height=1073741824"), ("distance", "queries=1073741824", "points=1073741824", "dims=3"),
        ("smallest_k", "rows=1073741824", "columns=1073741824"), ("coherent_sum", "receivers=1073741824", "samples=1073741824"),
        ("knn", "queries=1073741824", "points=1073741824")]


def row_14(machine: Machine) -> Outcome:
    """More than 2^31 elements or bytes: the right answer or `unsupported`, never an access out of bounds."""
    outcome = Outcome()
    with machine.folder() as folder:
        for number, (family, *axes) in enumerate(HUGE if machine.quick else HUGE + LARGE):
            known = run([machine.espalier, "list", "--family", family, "--json"])
            if known.code:
                raise AssertionError(str(known))
            place = folder / str(number)
            command = [machine.espalier, "sweep", "--device", machine.device, "--family", family, "--quick", "--noise",
                       "20%", "--counters", "off", "--max-time", "240s", "--timeout", "120s", "--output",
                       place / "journal", "--results", place / "results", "--no-merge"]
            for axis in axes:
                command += ["-p", axis]
            done = run(command, 590)
            cases = [json.loads(line)["case"] for path in place.glob("journal/*.jsonl")
                     for line in path.read_text().splitlines() if '"espalier.case/1"' in line]
            if not cases:
                outcome.count(False, f"{family} {axes}: {done}")
            for case in cases:
                if case["status"] == "not_measured":
                    continue  # not reached: not injected
                fine = case["status"] == "ok" or (case["status"] == "unsupported" and case["reason"])
                outcome.count(bool(fine) and done.code == 0,
                              f"{case['variant']} {case['problem']}: {case['status']}: {case['reason']}; {done}")
    return outcome


def row_15(machine: Machine) -> Outcome:
    """Limits of textures, grids and shared memory, one below, at and one above, as the device states them."""
    outcome = Outcome()
    program = "limits_test" if machine.device == "cpu" else "limits_gpu_test"
    count_tests(outcome, gtest(machine, program, "*"), "probes")
    return outcome


def row_23(machine: Machine) -> Outcome:
    """A device that no shipped tree knows."""
    outcome = Outcome()
    count_tests(outcome, gtest(machine, "dispatch_test", "SimilarTrees.*:Dispatch.*"))
    families = [entry["family"] for entry in json.loads(run([machine.espalier, "list", "--json"]).out)]
    with machine.folder() as folder:
        for key, members in UNKNOWN.items():
            (folder / key).mkdir()
            (folder / key / "device.json").write_text(sealed("device", device(key, members)))
            for family in families:
                done = run([machine.espalier, "explain", "--family", family, "--device", key, "--results", folder, "--json"])
                told = json.loads(done.out) if done.code == 0 else {}
                outcome.count(bool(told.get("variant")) and told["tree"] != "exact" and bool(told["reason"]) and
                              not told["trained_on_this_device"], f"{family} on {key}: {done}")
    return outcome


# Devices that nobody has measured, of every kind: poorer and richer than those with trees, and of other makers.
UNKNOWN = {
    "cpu-generic-1t": {"kind": "cpu", "threads": 1}, "cpu-sve2-128t": {"kind": "cpu", "threads": 128},
    "cpu-avx2-7t": {"kind": "cpu", "threads": 7, "avx2": True, "fma": True},
    "cpu-avx512-999t": {"kind": "cpu", "threads": 999, "avx2": True, "fma": True, "avx512": True, "avx512_vnni": True},
    **{f"nvidia-future-{sm}": {"kind": "cuda", "sm": sm, "sm_count": count} for sm, count in
       ((30, 1), (75, 40), (80, 108), (86, 82), (90, 64), (100, 148), (120, 170), (999, 1))},
}


def device(key: str, members: dict) -> dict:
    described = {"kind": "cpu", "key": key, "name": key, "emulated": False, "memory_bytes": 1 << 33, "l2_bytes": 1 << 20}
    described |= dict.fromkeys(("bytes_per_second", "cached_bytes_per_second", "fp32_per_second", "int_per_second"), 0.0)
    described |= {"threads": 4, "microarchitecture": "", "nominal_bytes_per_second": 0.0}
    described |= dict.fromkeys(("avx2", "fma", "avx512", "avx512_vnni", "neon"), False)
    gpu = {"sm": 0, "sm_count": 0, "clock_khz": 1_000_000, "max_threads_per_sm": 1024, "registers_per_sm": 65536,
           "shared_per_block": 48 << 10, "shared_per_block_optin": 48 << 10, "shared_per_sm": 64 << 10,
           "constant_bytes": 64 << 10, "texture_1d_linear_floats": 1 << 27, "texture_2d_width": 65536,
           "texture_2d_height": 65536, "texture_2d_pitch": 1 << 20, "texture_pitch_alignment": 32}
    return described | (gpu if members["kind"] == "cuda" else dict.fromkeys(gpu, 0)) | members


def row_24(machine: Machine) -> Outcome:
    """CSV inputs of `knn`: a clear error that names line and column, or the right answer, in bounded memory."""
    outcome = Outcome()
    good = "x,y,label\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(60))
    bad = {
        "a ragged row": (good + "1,2\n", ["line 62"]), "an overlong row": (good + "1,2,a,9\n", ["line 62"]),
        "an unclosed quote": (good + '1,"2,a\n', ["line 62"]), "text among numbers": (good + "1,many,a\n", ["y"]),
        "an empty file": ("", []), "a header alone": ("x,y,label\n", []),
        "no UTF-8": (good.encode() + b"\xff\xfe,1,a\n", []), "zeros": (b"\0" * 1000, []),
        "an all-missing column": ("x,y,label\n" + "".join(f"{i},?,a\n{i},?,b\n" for i in range(9)), None),
        "no header": (good.split("\n", 1)[1], None),
    }
    with machine.folder() as folder:
        for what, (content, parts) in bad.items():
            path = folder / "data.csv"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            done = run([machine.espalier, "knn", "--data", path, "--label", "label" if what != "no header" else "3"])
            said = done.out + done.err
            refused = done.code in (2, 4) and len(done.err) > 20 and all(part in said for part in parts or [])
            answered = parts is None and done.code == 0
            outcome.count(refused or answered, f"{what}: {done}")
        (folder / "data.csv").write_text(good)
        done = run([machine.espalier, "knn", "--data", folder / "data.csv", "--label", "nowhere"])
        outcome.count(done.code in (2, 4) and "nowhere" in done.err, f"an unknown label: {done}")
        rows = machine.times(3_000_000, 200_000)
        (folder / "train.csv").write_text(good)
        with open(folder / "test.csv", "w") as stream:
            stream.write("x,y,label\n")
            for start in range(0, rows, 100_000):
                stream.write("".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(start, start + 100_000)))
        done = run([machine.espalier, "knn", "--train", folder / "train.csv", "--test", folder / "test.csv", "--label",
                    "label", "--output", folder / "predictions.csv"], 590)
        written = sum(1 for _ in open(folder / "predictions.csv")) if (folder / "predictions.csv").exists() else 0
        outcome.count(done.code == 0 and written >= rows and done.peak_mib < 1024,
                      f"{rows} rows: {written} predictions, {done.peak_mib:.0f} MiB; {done}")
    return outcome


def row_32(machine: Machine) -> Outcome:
    """A plan run with other sizes, a short or misaligned workspace, pointers of the wrong side, and after a reset."""
    outcome = Outcome()
    if machine.device == "cpu":
        count_tests(outcome, gtest(machine, "plan_test", "PlanErrors.*:PlanOptions.*"))
    else:
        count_tests(outcome, gtest(machine, "plan_gpu_test", "PlanErrors.*:PlanOptions.*"))
        count_tests(outcome, gtest(machine, "plan_graph_gpu_test", "PlanAfterReset.*"))
    return outcome


def row_34(machine: Machine) -> Outcome:
    """Each allocation of each public function fails in turn, alone and with all that follow."""
    outcome = Outcome()
    # The first calls of a process are made in a process each, thousands of them.
    selection = "PublicFunctions/*:ColdCalls.Device*" if machine.quick else "*"
    count_tests(outcome, gtest(machine, "allocation_test", selection, 1800), "allocations")
    return outcome


def row_35(machine: Machine) -> Outcome:
    """fork after a call on threads, a pinned first call, one CPU, OpenMP of the caller's, a quota: right, and no hang."""
    outcome = Outcome()
    count_tests(outcome, gtest(machine, "threads_test", "Pinned.*:OneCpu.*:Limited.*:Children/*:ForkOfASingleThread.*"))
    count_tests(outcome, gtest(machine, "cpu_limits_test", "Quota.*:UsableThreads.*:ProcessCpus.*"))
    quota_of_this_machine(machine, outcome)
    return outcome


def quota_of_this_machine(machine: Machine, outcome: Outcome) -> None:
    """A process in a control group with one CPU's time is one of one thread. Needs the right to make such a group."""
    for parent, name, text in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"), ("/sys/fs/cgroup", "cpu.max", "100000 100000")):
        group = Path(parent) / f"espalier-fault-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / name).write_text(text)
            done = run(["sh", "-c", f'echo $$ >"{group}/cgroup.procs" && exec "$0" doctor --device cpu --no-ceilings --json',
                        machine.espalier])
            found = json.loads(done.out)["devices"][0] if done.code == 0 else {"limits": {}}
            mask = found["limits"].get("cpus")
            outcome.count(found.get("threads") == 1 and found["limits"].get("quota_cpus") == 1 and
                          found["limits"].get("limited_by_quota") == (mask != "0"), f"a quota of one CPU: {done}")
            return
        except OSError:
            pass  # a group without this controller
        finally:
            group.rmdir()


def row_38(machine: Machine) -> Outcome:
    """`Options::deterministic`, and every CPU variant that promises it: equal bits on 1, 2, 3 and 8 threads."""
    outcome = Outcome()
    count_tests(outcome, gtest(machine, "threads_test", "Deterministic.*"))
    count_tests(outcome, gtest(machine, "any_threads_test", "Variants/EveryCpuVariant.GivesEqualBits*", 1800))
    return outcome


ROWS = {13: row_13, 14: row_14, 15: row_15, 23: row_23, 24: row_24, 32: row_32, 34: row_34, 35: row_35,
        38: row_38}
