"""k-NN beside FAISS, scikit-learn and NumPy on the CPU, beside PyTorch on a GPU; scripts/peers --family knn starts it.

Each implementation lives in a process of its own, with all processors to itself while its turn lasts: a round gives
everyone one turn, in random order. Rows of floats go in; neighbours (ours: classes, too) come out. Whoever lists other
neighbours than ours, beyond ties and roundings of single precision, is `wrong`. On a GPU everyone's arrays are in its
memory, and each writes 256 MiB there before a call is timed: caches are cold, and the GPU, which takes some 0.2 ms to go
from one process to another, has gone. PyTorch multiplies in single precision or, where more of the neighbours may be
others, in TF32.
"""

import argparse
import dataclasses
import importlib
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import knn_data
import records  # which puts plots/ on the path
from regular_files import Unusable, read_json

@dataclasses.dataclass(frozen=True)
class Peer:
    module: str
    package: str
    on_gpu: bool = False
    distances_off: float = 1e-3  # relative
    neighbours_same: float = 0.99  # share


PEERS = {"faiss": Peer("faiss", "faiss-cpu"), "sklearn": Peer("sklearn", "scikit-learn"), "numpy": Peer("numpy", "numpy"),
         "torch": Peer("torch", "torch", on_gpu=True),
         "torch_tf32": Peer("torch", "torch", on_gpu=True, distances_off=0.1, neighbours_same=0.9)}
OURS = Peer("", "")
@dataclasses.dataclass(frozen=True)
class Problem:
    queries: int
    points: int
    dims: int
    k: int
    data: str = "uniform"
    metric: str = "euclidean"

    @property
    def sizes(self):
        return self.queries, self.points, self.dims, self.k

    def __str__(self):
        return f"{self.queries}x{self.points}x{self.dims}:{self.k}:{self.data}:{self.metric}"


PROBLEMS = ["16384x4096x128:16", "2000x100000x50:10", "1x1000000x50:10", "10000x10000x8:5", "1000x1000x4:5",
            "100x200000x20:100"]
# Real use: how the rows lie and how wide they are.
PROBLEMS += [f"{sizes}:{data}" for sizes, kinds in {
    "5000x50000x50:10": ("uniform", "clusters", "far_clusters", "duplicates", "outlier", "times"),
    "2000x20000x768:10": ("directions", "directions:cosine", "images"),
    "500x20000x1536:10": ("directions", "directions:cosine"),
    "1x200000x768:10": ("directions", "directions:cosine"),
    "32x200000x768:100": ("directions:cosine",)}.items() for data in kinds]
GPU_PROBLEMS = ["16384x4096x128:16", "10000x10000x50:10", "100000x100000x50:10", "100000x100000x8:10",
                "10000x1000000x128:10"]
GPU_PROBLEMS += [f"{sizes}:{data}" for sizes, kinds in {
    "20000x200000x96:10": ("uniform", "clusters", "far_clusters", "duplicates", "outlier"),
    "3000x2000000x96:100": ("uniform", "clusters"),
    "200000x200000x3:8": ("uniform", "clusters", "places"),
    "50000x50000x784:5": ("uniform", "clusters", "images"),
    "10000x100000x768:10": ("directions", "directions:cosine"),
    "2000x200000x1536:10": ("directions:cosine",),
    "10000x1000000x32:200": ("uniform", "times"),
    "32x1000000x768:100": ("directions:cosine",),
    "1x1000000x768:10": ("directions:cosine",)}.items() for data in kinds]
FLUSHED_BYTES = 256 << 20  # as knn_runner.cpp
FEATURES = ("queries,points,dims,k,classes,metric,missing,vote,task,queries_in,data,distances,terms").split(",")
CATEGORIES = {"euclidean": 0, "none": 0, "majority": 0, "classification": 0, "device": 0, "cosine": 4}
DATA = ["whole", "continuous"] + [kind for kind in knn_data.KINDS if kind != "uniform"]  # as kernels/problems/knn.hpp
LONGEST_REST = 2.0  # seconds


# --- a peer's process ---------------------------------------------------------------------------------------------

def unit_rows(rows):
    import numpy
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def faiss_search(queries, points, k, metric):
    import faiss
    if metric == "cosine":
        index = faiss.IndexFlatIP(points.shape[1])
        index.add(unit_rows(points))
        return lambda: index.search(unit_rows(queries), k), lambda found: (1 - found[0], found[1])
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points)
    return lambda: index.search(queries, k), lambda found: (found[0].clip(0) ** 0.5, found[1])


def sklearn_search(queries, points, k, metric):
    from sklearn.neighbors import NearestNeighbors
    model = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric, n_jobs=-1).fit(points)
    return lambda: model.kneighbors(queries), lambda found: found


def numpy_search(queries, points, k, metric):
    """Expanded squares (of unit vectors: half of them is their cosine distance) and a partial sort, some queries at a
    time, as people write it."""
    import numpy
    is_cosine = metric == "cosine"
    if is_cosine:
        points = unit_rows(points)
    squares = (points * points).sum(1)

    def search():
        return of_rows(unit_rows(queries) if is_cosine else queries)

    def of_rows(queries):
        distances, indices = [], []
        step = max(1, (64 << 20) // (4 * len(points)))
        for first in range(0, len(queries), step):
            some = queries[first:first + step]
            matrix = squares - 2 * (some @ points.T)
            nearest = numpy.argpartition(matrix, k - 1, axis=1)[:, :k]
            values = numpy.take_along_axis(matrix, nearest, axis=1) + (some * some).sum(1)[:, None]
            order = numpy.argsort(values, axis=1, kind="stable")
            near = numpy.take_along_axis(values, order, axis=1).clip(0)
            distances.append(near / 2 if is_cosine else numpy.sqrt(near))
            indices.append(numpy.take_along_axis(nearest, order, axis=1))
        return numpy.concatenate(distances), numpy.concatenate(indices)
    return search, lambda found: found


def torch_search(queries, points, k, metric, tf32=False):
    """Expanded squares (for cosine products of unit vectors) and top-k of matrices of up to 1 GiB."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = tf32
    queries, points = torch.from_numpy(queries).cuda(), torch.from_numpy(points).cuda()
    step = max(1, (1 << 30) // (4 * len(points)))
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")

    def prepare():
        flushed.zero_()
        torch.cuda.synchronize()

    def search_by_angle():
        units = torch.nn.functional.normalize(points)
        found = []
        for some in torch.nn.functional.normalize(queries).split(step):
            values, indices = (some @ units.T).topk(k)
            found.append((1 - values, indices))
        torch.cuda.synchronize()
        return found

    def search():
        squares = (points * points).sum(1)
        found = []
        for some in queries.split(step):
            values, indices = torch.addmm(squares, some, points.T, alpha=-2).topk(k, largest=False)
            found.append(((values + (some * some).sum(1)[:, None]).clamp(min=0).sqrt(), indices))
        torch.cuda.synchronize()
        return found
    def lists(found):
        return tuple(torch.cat(part).cpu().numpy() for part in zip(*found))
    return search_by_angle if metric == "cosine" else search, lists, prepare


def torch_tf32_search(queries, points, k, metric):
    return torch_search(queries, points, k, metric, tf32=True)


def serve(peer, folder, queries, points, dims, k, metric):
    import numpy
    folder = pathlib.Path(folder)
    q = numpy.fromfile(folder / "queries.f32", numpy.float32).reshape(queries, dims)
    p = numpy.fromfile(folder / "points.f32", numpy.float32).reshape(points, dims)
    search, lists, *prepare = globals()[f"{peer}_search"](q, p, k, metric)
    print(importlib.import_module(PEERS[peer].module).__version__, flush=True)
    found = None
    for line in sys.stdin:
        if line.strip() == "save":
            distances, indices = lists(found)
            numpy.ascontiguousarray(distances, numpy.float32).tofile(folder / f"{peer}.f32")
            numpy.ascontiguousarray(indices, numpy.int32).tofile(folder / f"{peer}.i32")
            print("saved", flush=True)
            continue
        for step in prepare:
            step()
        before = time.perf_counter_ns()
        found = search()
        print(time.perf_counter_ns() - before, flush=True)


# --- the comparison -----------------------------------------------------------------------------------------------

class Candidate:
    """One implementation, waiting for its turn."""

    def __init__(self, name, command, environment):
        self.name, self.times, self.reason = name, [], ""
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.greeting = self.process.stdout.readline().strip()
        if not self.greeting:
            sys.exit(f"{name} did not start: see above")

    def ask(self, what):
        try:
            self.process.stdin.write(what + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"{self.name} ended with code {self.process.wait()}: see above")
        return answer

    def cpu_seconds(self):
        """Of all its threads until now; the clock is clock_getcpuclockid's of another process."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def rest(candidates):
    """Returns when nobody's threads run any more, but for a twentieth of ten milliseconds. OpenBLAS's stay on a processor
    for 26 to 100 ms after a call, by the machine, OpenMP's for less; whoever is next would lack it."""
    until = time.monotonic() + LONGEST_REST
    used, before = math.inf, 0
    while used - before > 0.0005 and time.monotonic() < until:
        before = sum(candidate.cpu_seconds() for candidate in candidates)
        time.sleep(0.01)
        used = sum(candidate.cpu_seconds() for candidate in candidates)


def median_interval(times):
    """The median and the 95% interval of it that order statistics give."""
    ordered, n = sorted(times), len(times)
    if n < 6:
        return statistics.median(ordered), ordered[0], ordered[-1]
    half_width = 0.98 * n ** 0.5
    low, high = int(max(0, n / 2 - half_width)), int(min(n - 1, n / 2 + half_width))
    return statistics.median(ordered), ordered[low], ordered[high]


def disagreement(folder, mine, theirs, shape):
    """Empty if the lists of distances are the same but for single precision and cancelled squares."""
    import numpy
    allowed = PEERS.get(theirs, OURS)
    a = numpy.fromfile(folder / f"{mine}.f32", numpy.float32).reshape(shape)
    b = numpy.fromfile(folder / f"{theirs}.f32", numpy.float32).reshape(shape)
    off = numpy.abs(a - b) / numpy.maximum(a, 1e-2)
    if not (off <= allowed.distances_off).all():
        return f"distances differ by up to {off.max():.2g} of ours"
    i = numpy.fromfile(folder / f"{mine}.i32", numpy.int32).reshape(shape)
    j = numpy.fromfile(folder / f"{theirs}.i32", numpy.int32).reshape(shape)
    same = (i == j).mean()
    return "" if same >= allowed.neighbours_same else f"only {same:.2%} of the neighbours are ours"


def case_of(problem):
    """What all records of a problem have in common."""
    queries, points, dims, k = problem.sizes
    data = "continuous" if problem.data == "uniform" else problem.data
    values = [queries, points, dims, k, 10, problem.metric, "none", "majority", "classification", "device",
              data, queries * points, queries * points * dims]
    named = dict(zip(FEATURES, values))
    return {"family": "knn", "problem": ";".join(f"{name}={named[name]}" for name in FEATURES[:11]),
            "bytes": 4.0 * (queries + points) * (dims + 1), "ops": 2.0 * values[-1] + values[-2],
            "features": [{"name": name, "value": float(DATA.index(value) if name == "data" else CATEGORIES.get(value, value))}
                         for name, value in named.items()]}


def cases_of(problem, candidates, ceilings, provenance):
    """A record of each candidate, with its samples."""
    cases = []
    for c in candidates:
        common = case_of(problem)
        least = 0.0
        if ceilings:
            terms = next(f["value"] for f in common["features"] if f["name"] == "terms")
            least = max(common["bytes"] / ceilings["bandwidth"], 2 * terms / ceilings["fp32_per_second"]) * 1e9
        middle, low, high = (0.0, 0.0, 0.0) if c.reason else map(float, median_interval(c.times))
        cases.append({"family": common["family"], "variant": c.variant, "role": c.role, "problem": common["problem"],
                      "configuration": c.configuration, "status": "wrong" if c.reason else "ok", "reason": c.reason,
                      "verification": "" if c.reason else "baseline",
                      "samples_ns": [] if c.reason else [float(t) for t in c.times],
                      "time_ns": middle, "time_lo_ns": low, "time_hi_ns": high, "bytes": common["bytes"],
                      "ops": common["ops"], "floor_ns": least, "features": common["features"], "conditions": {},
                      "counters": {}, "counters_reason": "not asked for",
                      "provenance": provenance | {"device_key": c.key, "source_id": c.source_id}})
    return cases


def described(program, device):
    """What `espalier doctor` and `list` say of the device, of this build and of its variants."""
    def ask(*words):
        return json.loads(subprocess.run([program, *words, "--json"], capture_output=True, text=True, check=True).stdout)

    doctor = ask("doctor", "--device", device, "--no-ceilings")
    here, = doctor["devices"]
    sources = {variant["name"]: variant["source_id"]
               for family in ask("list", "--family", "knn") for variant in family["variants"]}
    session = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{random.randrange(2**32):08x}"
    return {"driver": here["driver"], "runtime": here["runtime"], "build": doctor["build"],
            "cache": "warm" if device == "cpu" else "cold", "session": session}, sources


def ceilings_of(device_file, moved):
    """Of the device's description, if there is one: small problems stay in caches."""
    try:
        device = read_json(device_file)["device"]
    except (OSError, Unusable, ValueError, KeyError):
        return None
    cached = moved < device["l2_bytes"] and device["cached_bytes_per_second"]
    return {"bandwidth": cached or device["bytes_per_second"], "fp32_per_second": device["fp32_per_second"]}


def environment():
    """OpenBLAS takes these two for the processor's: set on some machines for others' sake, they slow NumPy down."""
    return {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}


def start(arguments, folder, problem):
    sizes = [str(n) for n in problem.sizes] + [problem.metric]
    candidates = []
    for variant in arguments.variants:
        candidate = Candidate(f"ours ({variant or 'by the tree'})",
                              [arguments.runner, arguments.device, str(folder), *sizes, *([variant] if variant else [])], environment())
        candidate.key, candidate.variant, candidate.configuration = candidate.greeting.split(" ")
        candidate.source_id = arguments.sources.get(candidate.variant, "")
        candidate.role = "baseline" if "two_stage" in candidate.variant else "modern"
        candidates.append(candidate)
    for peer in arguments.peers:
        candidate = Candidate(peer, [sys.executable, __file__, "--serve", peer, str(folder), *sizes], environment())
        candidate.variant, candidate.role, candidate.source_id = f"peer_{peer}", "peer", ""
        candidate.key, candidate.configuration = candidates[0].key, f"version={candidate.greeting.replace('+', '_')}"
        candidates.append(candidate)
    for candidate in candidates:
        if candidate.configuration == "-":
            candidate.configuration = "default"
    return candidates


def compare(arguments, folder, problem):
    for name, rows in zip(("queries", "points"),
                          knn_data.drawn(problem.data, 1, problem.queries, problem.points, problem.dims)):
        rows.tofile(folder / f"{name}.f32")
    candidates = start(arguments, folder, problem)
    for candidate in candidates:
        candidate.ask("run")
    check(folder, candidates, (problem.queries, problem.k))
    until = time.monotonic() + arguments.seconds / len(arguments.problems)
    order = list(candidates)
    while time.monotonic() < until or len(candidates[0].times) < 3:
        random.shuffle(order)
        for candidate in order:
            rest(candidates)
            candidate.times.append(int(candidate.ask("run")))
    for candidate in candidates:
        candidate.end()
    return candidates


def check(folder, candidates, shape):
    for number, candidate in enumerate(candidates):
        candidate.ask("save")
        if candidate.role == "peer":
            candidate.reason = disagreement(folder, "first", candidate.variant.removeprefix("peer_"), shape)
            continue
        for stem, kind in (("distances", "f32"), ("indices", "i32")):
            (folder / f"{stem}.{kind}").rename(folder / f"{'first' if number == 0 else 'ours'}.{kind}")
        if number:
            candidate.reason = disagreement(folder, "first", "ours", shape)


def report(problem, candidates):
    print(problem, f"({len(candidates[0].times)} rounds)")
    for c in candidates:
        middle, low, high = median_interval(c.times)
        ratio = statistics.median(t / o for t, o in zip(c.times, candidates[0].times))
        print(f"  {c.variant:20} {middle / 1e6:10.3f} ms ({low / 1e6:.3f} to {high / 1e6:.3f}), least "
              f"{min(c.times) / 1e6:.3f}, {ratio:.2f} of {candidates[0].variant} {c.reason}", flush=True)


def parsed_problem(text):
    try:
        sizes, k, *rest = text.split(":")
        queries, points, dims = sizes.split("x")
        problem = Problem(*(int(n) for n in (queries, points, dims, k)), *rest)
    except (TypeError, ValueError):
        problem = Problem(0, 0, 0, 0)
    if min(problem.sizes) < 1 or problem.k > problem.points:
        raise argparse.ArgumentTypeError(f"{text!r} is no QUERIESxPOINTSxDIMS:K[:DATA[:METRIC]] with K at most POINTS")
    if problem.data not in knn_data.KINDS:
        raise argparse.ArgumentTypeError(f"{problem.data!r} is none of {', '.join(knn_data.KINDS)}")
    if problem.metric not in ("euclidean", "cosine"):
        raise argparse.ArgumentTypeError(f"{problem.metric!r} is neither euclidean nor cosine")
    return problem


def keep_device(kept):
    """What the device is, for whoever reads its peers alone: choices go by it, so it is the latest description."""
    known, copy = kept / "device.json", kept / "peers" / "device.json"
    if known.exists():
        shutil.copyfile(known, copy)


def missing_modules(peers):
    missing = []
    for peer in {*peers, "numpy"}:
        try:
            importlib.import_module(PEERS[peer].module)
        except ImportError:
            missing.append(PEERS[peer].package)
    return sorted(set(missing))


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:8]), sys.argv[8])
    parser = argparse.ArgumentParser(prog="scripts/peers --family knn", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu (default), or a GPU by number")
    parser.add_argument("--runner", default="build/host/harness/bench/peers/espalier_knn_runner",
                        help="our side (default that of the build host)")
    parser.add_argument("--program", default="build/host/harness/espalier",
                        help="espalier of the same build (default that of the build host)")
    parser.add_argument("--seconds", type=int, default=60, help="measuring time in all (default 60)")
    parser.add_argument("--variant", dest="variants", action="append",
                        help="of ours, instead of the tree's choice; may be given again")
    parser.add_argument("--peer", dest="peers", action="append", choices=PEERS, help="only this one; may be given again")
    parser.add_argument("--problem", dest="problems", action="append", type=parsed_problem,
                        metavar="QUERIESxPOINTSxDIMS:K[:DATA[:METRIC]]",
                        help=f"instead of {', '.join(PROBLEMS)}; on a GPU {', '.join(GPU_PROBLEMS)}")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("results"),
                        help="folder of the device's folders (default results)")
    parser.add_argument("--show", action="store_true", help="only say what came of it; keep nothing")
    arguments = parser.parse_args()
    arguments.variants = arguments.variants or [""]
    on_gpu = arguments.device != "cpu"
    arguments.peers = arguments.peers or [name for name, peer in PEERS.items() if peer.on_gpu == on_gpu]
    arguments.problems = arguments.problems or [parsed_problem(text) for text in (GPU_PROBLEMS if on_gpu else PROBLEMS)]
    for of_build in (arguments.runner, arguments.program):
        if not shutil.which(of_build):
            sys.exit(f"scripts/peers: error: {of_build} is not there: scripts/peers --family knn builds it, and "
                     "scripts/bundle --programs espalier,espalier_knn_runner makes a folder for --bin")
    if missing := missing_modules(arguments.peers):
        sys.exit(f"scripts/peers: error: {sys.executable} lacks {', '.join(missing)}: make an environment with\n"
                 "  python3 -m venv /tmp/peers && /tmp/peers/bin/pip install " + " ".join(missing) + "\n"
                 "and give --python /tmp/peers/bin/python")
    provenance, arguments.sources = described(arguments.program, arguments.device)
    rows = []
    for problem in arguments.problems:
        with tempfile.TemporaryDirectory() as folder:
            candidates = compare(arguments, pathlib.Path(folder), problem)
        report(problem, candidates)
        kept = arguments.results / candidates[0].key
        found = cases_of(problem, candidates, ceilings_of(kept / "device.json", case_of(problem)["bytes"]), provenance)
        rows += found
        if not arguments.show:  # whatever happens to the next one
            records.keep(kept / "peers" / "knn.jsonl.xz", found)
            keep_device(kept)
    if not arguments.show:
        print(f"peers: kept {kept / 'peers/knn.jsonl.xz'}")
    if wrong := sorted({row["variant"] for row in rows if row["status"] != "ok"}):
        print(f"peers: wrong: {', '.join(wrong)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
