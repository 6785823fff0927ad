#!/usr/bin/python3
"""The C interface from Python's ctypes, in the shared library: values against plain Python, errors as codes and messages.

usage: ctypes_test.py LIBRARY

The structs are declared here once more, by hand: a change of their layout breaks programs that were built before.
"""

import ctypes
import math
import pathlib
import random
import sys
import tempfile
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t,
                    c_ubyte, c_uint64, c_void_p, sizeof)

OK, INVALID, UNSUPPORTED, UNKNOWN_VARIANT, NO_DEVICE, OUT_OF_MEMORY, DEVICE_FAILURE, BAD_FILE, INTERNAL, CANCELLED = range(10)
library = ctypes.CDLL(sys.argv[1])
library.espalier_last_error.restype = c_char_p
library.espalier_version.restype = c_char_p
library.espalier_device_key.restype = c_char_p
library.espalier_device_key.argtypes = [c_void_p]
library.espalier_plan_workspace_bytes.restype = c_size_t
library.espalier_plan_workspace_bytes.argtypes = [c_void_p]
library.espalier_exact_class_count.restype = c_int64
for name, kind in (("offsets", c_int64), ("indices", c_int32), ("distances", c_float), ("exact_distances", c_double)):
    getattr(library, "espalier_radius_lists_" + name).restype = POINTER(kind)
for name in ("device_free", "plan_free", "model_free", "exact_model_free", "radius_lists_free", "free_text"):
    getattr(library, "espalier_" + name).argtypes = [c_void_p]
    getattr(library, "espalier_" + name).restype = None


class Struct(Structure):
    def __init__(self, **members):
        super().__init__(size=sizeof(type(self)), **members)


def struct(name, size, *members):
    fields = [("size", c_size_t)] + [(member, kind) for member, kind in members]
    made = type(name, (Struct,), {"_fields_": fields})
    assert sizeof(made) == size, f"{name} has {sizeof(made)} bytes"
    return made


Progress = CFUNCTYPE(c_bool, c_void_p, c_double)
FIRST_OPTIONS = [("stream", c_void_p), ("variant", c_char_p), ("memory", c_int32), ("asynchronous", c_int32),
                 ("deterministic", c_int32), ("threads", c_int32)]
FirstOptions = struct("FirstOptions", 40, *FIRST_OPTIONS)
Options = struct("Options", 72, *FIRST_OPTIONS, ("progress", Progress), ("progress_user", c_void_p), ("budget", c_int64),
                 ("effort", c_int32), ("reserved", c_int32))
ImageShape = struct("ImageShape", 48, ("width", c_int64), ("height", c_int64), ("image_pitch", c_int64),
                    ("result_pitch", c_int64), ("channels", c_int32), ("reserved", c_int32))
CoherentSumShape = struct("CoherentSumShape", 72, ("receivers", c_int64), ("samples", c_int64), ("sources", c_int64),
                          ("span", c_int64), ("trace_stride", c_int64), ("delay_stride", c_int64), ("sum_stride", c_int64),
                          ("precision", c_int32), ("delays", c_int32))
Items = struct("Items", 48, ("values", POINTER(c_float)), ("count", c_int64), ("dims", c_int64), ("stride", c_int64),
               ("layout", c_int32), ("reserved", c_int32))
DistanceRule = struct("DistanceRule", 32, ("types", c_void_p), ("type_count", c_int64), ("metric", c_int32),
                      ("missing", c_int32))
SelectionShape = struct("SelectionShape", 64, ("rows", c_int64), ("columns", c_int64), ("k", c_int64),
                        ("key_stride", c_int64), ("list_stride", c_int64), ("layout", c_int32), ("order", c_int32),
                        ("keys", c_int32), ("reserved", c_int32))
NeighbourRule = struct("NeighbourRule", 48, ("types", c_void_p), ("type_count", c_int64), ("k", c_int64),
                       ("metric", c_int32), ("missing", c_int32), ("vote", c_int32), ("reserved", c_int32))
Neighbours = struct("Neighbours", 40, ("distances", POINTER(c_float)), ("indices", POINTER(c_int32)), ("stride", c_int64),
                    ("layout", c_int32), ("reserved", c_int32))
SourceGrid = struct("SourceGrid", 80, ("origin", c_double * 3), ("spacing", c_double * 3), ("columns", c_int64),
                    ("rows", c_int64), ("layers", c_int64))
DelayRule = struct("DelayRule", 32, ("samples_per_metre", c_double), ("phases", c_int64), ("phase_samples", c_int64))
InterpolationShape = struct("InterpolationShape", 40, ("receivers", c_int64), ("samples", c_int64), ("padding", c_int64),
                            ("phases", c_int64))
ExactItems = struct("ExactItems", 48, ("values", POINTER(c_double)), ("count", c_int64), ("dims", c_int64),
                    ("stride", c_int64), ("layout", c_int32), ("reserved", c_int32))
ExactDistance = struct("ExactDistance", 40, ("weights", POINTER(c_double)), ("weight_count", c_int64), ("p", c_double),
                       ("metric", c_int32), ("degrees", c_int32))
ExactNeighbours = struct("ExactNeighbours", 40, ("distances", POINTER(c_double)), ("indices", POINTER(c_int32)),
                         ("stride", c_int64), ("layout", c_int32), ("reserved", c_int32))


def message():
    return library.espalier_last_error().decode()


def ok(status):
    assert status == OK, f"{status}: {message()}"


def refused(status, code, part):
    assert status == code and part in message(), f"{status}, not {code}, or '{part}' is not in: {message()}"


def floats(values):
    values = list(values)
    return (c_float * len(values))(*values)


def doubles(values):
    values = list(values)
    return (c_double * len(values))(*values)


def items(rows, kind=Items, array=floats, **members):
    values = array(value for row in rows for value in row)
    made = kind(values=values, count=len(rows), dims=len(rows[0]), **members)
    made.kept = values
    return made


def text_of(function, *arguments):
    text = c_void_p()
    ok(function(*arguments, byref(text)))
    value = ctypes.string_at(text).decode()
    library.espalier_free_text(text)
    return value


def workspace(plan):
    size = library.espalier_plan_workspace_bytes(plan)
    block = ctypes.create_string_buffer(size + 64)
    return c_void_p(ctypes.addressof(block) + -ctypes.addressof(block) % 64), c_size_t(size), block


def close(a, b, tolerance=1e-4):
    return abs(a - b) <= tolerance * max(1, abs(b))


def rounded(value):
    """In single precision, as the library gets it."""
    return c_float(value).value


random.seed(14)
cpu = c_void_p()
ok(library.espalier_device_cpu(byref(cpu)))
assert library.espalier_device_key(cpu).decode().startswith("cpu-")


def test_dot():
    a, b = ([rounded(random.uniform(-1, 1)) for _ in range(1001)] for _ in range(2))
    right = math.fsum(x * y for x, y in zip(a, b))
    result, plan = c_float(), c_void_p()
    ok(library.espalier_dot_product(cpu, c_int64(1001), floats(a), floats(b), byref(result), None))
    assert close(result.value, right), result.value
    ok(library.espalier_plan_dot_product(cpu, c_int64(1001), None, byref(plan)))
    at, size, _kept = workspace(plan)
    result.value = 0
    ok(library.espalier_dot_product_run(plan, c_int64(1001), floats(a), floats(b), byref(result), None, at, size))
    assert close(result.value, right), result.value
    assert "runs: " in text_of(library.espalier_plan_explain, plan)
    library.espalier_plan_free(plan)
    assert "elements=1001" in text_of(library.espalier_explain_dot_product, cpu, c_int64(1001), None)
    refused(library.espalier_dot_product(cpu, c_int64(1001), None, floats(b), byref(result), None), INVALID, "a is null")
    options = Options(variant=b"nonsense")
    refused(library.espalier_dot_product(cpu, c_int64(1), floats(a), floats(b), byref(result), byref(options)),
            UNKNOWN_VARIANT, "nonsense")


def test_histogram():
    data = bytes(random.randrange(256) for _ in range(5000))
    counts = (c_uint64 * 256)()
    ok(library.espalier_count_bytes(cpu, c_int64(len(data)), data, counts, None))
    assert list(counts) == [data.count(value) for value in range(256)]


def test_convolution():
    width, height, channels = 13, 11, 3
    image = (c_ubyte * (width * height * channels))(*(random.randrange(256) for _ in range(width * height * channels)))
    for side in (3, 5, 7):
        filter_ = [random.randrange(-3, 4) for _ in range(side * side)]
        result = (c_ubyte * len(image))()
        shape = ImageShape(width=width, height=height, channels=channels)
        ok(library.espalier_convolve_2d(cpu, byref(shape), floats(filter_), c_int32(side), c_int32(1), image, result, None))
        for y in range(height):
            for x in range(width):
                for c in range(channels):
                    total = 0
                    for i in range(side):
                        for j in range(side):
                            row = min(max(y + i - side // 2, 0), height - 1)
                            column = min(max(x + j - side // 2, 0), width - 1)
                            total += filter_[i * side + j] * image[(row * width + column) * channels + c]
                    at = (y * width + x) * channels + c
                    assert result[at] == min(max(total, 0), 255), (side, y, x, c)
    # The left half of the image, and into the left half of a result, whose right one stays.
    half = ImageShape(width=width // 2, height=height, channels=channels, image_pitch=width * channels,
                      result_pitch=width * channels)
    kept = (c_ubyte * len(image))(*[7] * len(image))
    one = [0.0] * 49
    one[24] = 1.0
    ok(library.espalier_convolve_2d(cpu, byref(half), floats(one), c_int32(7), c_int32(1), image, kept, None))
    for at in range(len(image)):
        left = at % (width * channels) < width // 2 * channels
        assert kept[at] == (image[at] if left else 7), at
    shape.image_pitch = 1
    refused(library.espalier_convolve_2d(cpu, byref(shape), floats(filter_), c_int32(7), c_int32(1), image, result, None),
            INVALID, "pitch is 1")


def test_coherent_sum():
    receivers, samples, sources, span = 5, 20, 7, 9
    traces = [[float(random.randrange(-50, 50)) for _ in range(samples + span)] for _ in range(receivers)]
    delays = [[random.randrange(span + 1) for _ in range(receivers)] for _ in range(sources)]
    right = [[sum(traces[r][k + delays[j][r]] for r in range(receivers)) for k in range(samples)] for j in range(sources)]
    flat = floats(value for trace in traces for value in trace)
    flat_delays = (c_int32 * (sources * receivers))(*(delay for row in delays for delay in row))
    shape = CoherentSumShape(receivers=receivers, samples=samples, sources=sources, span=span)
    sums, maximum, sample = (c_float * (sources * samples))(), (c_float * sources)(), (c_int32 * sources)()
    ok(library.espalier_sum_coherently(cpu, byref(shape), flat, flat_delays, sums, None))
    assert list(sums) == [value for row in right for value in row]
    ok(library.espalier_maximum_coherence(cpu, byref(shape), flat, flat_delays, maximum, sample, None))
    assert list(maximum) == [max(row) for row in right]
    assert list(sample) == [row.index(max(row)) for row in right]
    shape.precision = -1
    refused(library.espalier_sum_coherently(cpu, byref(shape), flat, flat_delays, sums, None), INVALID, "precision is -1")
    shape.precision, shape.delays = 0, 2
    refused(library.espalier_sum_coherently(cpu, byref(shape), flat, flat_delays, sums, None), INVALID, "delays is 2")


def distance(a, b, metric):
    if metric == 0:
        return math.dist(a, b)
    if metric == 2:
        return sum(abs(x - y) for x, y in zip(a, b))
    if metric == 3:
        return max(abs(x - y) for x, y in zip(a, b))
    return 1 - sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)


def test_neighbours():
    points, queries = ([[rounded(random.uniform(-9, 9)) for _ in range(4)] for _ in range(n)] for n in (40, 11))
    p, q, k = items(points), items(queries), 3
    for metric in (0, 2, 3, 4):
        result = (c_float * (11 * 40))()
        ok(library.espalier_pairwise_distances(cpu, byref(q), byref(p), byref(DistanceRule(metric=metric)), result,
                                               c_int64(0), c_int32(0), None))
        right = [[distance(a, b, metric) for b in points] for a in queries]
        assert all(close(result[i * 40 + j], right[i][j]) for i in range(11) for j in range(40)), metric
        values, indices = (c_float * (11 * k))(), (c_int32 * (11 * k))()
        ok(library.espalier_select_smallest_k(cpu, byref(SelectionShape(rows=11, columns=40, k=k)), result, values, indices,
                                              None))
        nearest = [sorted(range(40), key=lambda j, row=row: row[j])[:k] for row in right]
        assert list(indices) == [j for row in nearest for j in row], metric
        assert all(values[i * k + j] == result[i * 40 + nearest[i][j]] for i in range(11) for j in range(k))
        classify(p, q, nearest, right, k, metric)


def classify(p, q, nearest, right, k, metric):
    labels = [random.randrange(3) for _ in range(40)]
    targets = [float(random.randrange(100)) for _ in range(40)]
    rule, classifier, regressor = NeighbourRule(k=k, metric=metric), c_void_p(), c_void_p()
    ok(library.espalier_fit_classifier(cpu, byref(p), (c_int32 * 40)(*labels), byref(rule), None, byref(classifier)))
    ok(library.espalier_fit_regressor(cpu, byref(p), floats(targets), byref(rule), None, byref(regressor)))
    classes, numbers = (c_int32 * 11)(), (c_float * 11)()
    distances, indices = (c_float * (11 * k))(), (c_int32 * (11 * k))()
    lists = Neighbours(distances=distances, indices=indices)
    ok(library.espalier_predict_classes(classifier, byref(q), classes, byref(lists), None))
    assert list(indices) == [j for row in nearest for j in row]
    assert all(close(distances[i * k + j], right[i][nearest[i][j]]) for i in range(11) for j in range(k))
    votes = [[labels[j] for j in row] for row in nearest]
    assert list(classes) == [min(set(v), key=lambda c, v=v: (-v.count(c), c)) for v in votes]
    ok(library.espalier_predict_targets(regressor, byref(q), numbers, None, None))
    assert all(close(numbers[i], sum(targets[j] for j in nearest[i]) / k) for i in range(11))
    ok(library.espalier_kneighbors(regressor, byref(q), byref(lists), None))
    assert list(indices) == [j for row in nearest for j in row]
    for model in (classifier, regressor):
        library.espalier_model_free(model)


def lists_of(lists, queries, exact=False):
    """The points and the distances of each query; frees the lists."""
    offsets, indices = library.espalier_radius_lists_offsets(lists), library.espalier_radius_lists_indices(lists)
    distances = (library.espalier_radius_lists_exact_distances if exact else library.espalier_radius_lists_distances)(lists)
    made = [[(indices[i], distances[i]) for i in range(offsets[q], offsets[q + 1])] for q in range(queries)]
    library.espalier_radius_lists_free(lists)
    return made


def test_neighbours_without_labels():
    points, queries, radius = ([[float(random.randrange(9)) for _ in range(3)] for _ in range(n)] for n in (60, 13, 1))
    p, q, radius = items(points), items(queries), 3.0
    model, other, lists = c_void_p(), c_void_p(), c_void_p()
    ok(library.espalier_fit_neighbours(cpu, byref(p), byref(NeighbourRule(k=4)), None, byref(model)))
    within = [sorted((math.dist(a, b), j) for j, b in enumerate(points) if math.dist(a, b) <= radius) for a in queries]
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "nearest").encode()
        ok(library.espalier_model_save(model, path))
        ok(library.espalier_load_neighbours(cpu, path, None, byref(other)))
        refused(library.espalier_load_classifier(cpu, path, None, byref(c_void_p())), BAD_FILE, "not a KnnClassifier")
        refused(library.espalier_load_neighbours(cpu, folder.encode(), None, byref(c_void_p())), BAD_FILE, "folder")
    for each in (model, other):
        ok(library.espalier_radius_neighbours(each, byref(q), c_float(radius), c_int64(0), None, byref(lists)))
        found = lists_of(lists, len(queries))
        assert [[j for j, _ in row] for row in found] == [[j for _, j in row] for row in within]
        assert all(close(a[1], b[0]) for x, y in zip(found, within) for a, b in zip(x, y))
        library.espalier_model_free(each)


def exact_distance(a, b, metric, weights):
    parts = [weight * abs(x - y) for weight, x, y in zip(weights, a, b)]
    if metric == 1:
        return sum(part**3 for part in parts) ** (1 / 3)
    if metric == 3:
        return sum(weight for weight, x, y in zip(weights, a, b) if x != y) / sum(weights)
    return math.hypot(*parts)


def test_exact_models():
    base, k = 1.7e9, 3
    points, queries = ([[base + random.randrange(12), random.randrange(4)] for _ in range(n)] for n in (50, 9))
    labels, targets = [random.randrange(3) for _ in points], [float(random.randrange(100)) for _ in points]
    p, q = (items(rows, ExactItems, doubles) for rows in (points, queries))
    classes, numbers = (c_int32 * 9)(), (c_double * 9)()
    distances, indices = (c_double * (9 * k))(), (c_int32 * (9 * k))()
    lists, rule = ExactNeighbours(distances=distances, indices=indices), NeighbourRule(k=k)
    for metric in (0, 1, 3):
        weights = doubles([0.5, 2.0])
        how = ExactDistance(metric=metric, p=3.0, weights=weights, weight_count=2)
        right = [sorted((exact_distance(a, b, metric, weights), j) for j, b in enumerate(points)) for a in queries]
        models = [c_void_p(), c_void_p()]
        ok(library.espalier_exact_fit_classifier(cpu, byref(p), (c_int32 * 50)(*labels), byref(rule), byref(how), None,
                                                 byref(models[0])))
        ok(library.espalier_exact_fit_regressor(cpu, byref(p), doubles(targets), byref(rule), byref(how), None,
                                                byref(models[1])))
        with tempfile.TemporaryDirectory() as folder:
            path, again = str(pathlib.Path(folder) / "exact").encode(), c_void_p()
            ok(library.espalier_exact_model_save(models[0], path))
            ok(library.espalier_exact_load_classifier(cpu, path, None, byref(again)))
            models.append(again)
        for model in (models[0], models[2]):
            ok(library.espalier_exact_predict_classes(model, byref(q), classes, byref(lists), None))
            assert all(close(distances[i * k + j], right[i][j][0], 1e-9) for i in range(9) for j in range(k)), metric
            found = [[indices[i * k + j] for j in range(k)] for i in range(9)]
            votes = [[labels[j] for j in row] for row in found]
            assert list(classes) == [min(set(v), key=lambda c, v=v: (-v.count(c), c)) for v in votes]
            shares = (c_double * 27)()
            assert library.espalier_exact_class_count(model) == 3
            ok(library.espalier_exact_predict_shares(model, byref(q), c_int64(3), shares, None))
            assert all(close(shares[i * 3 + c], votes[i].count(c) / k, 1e-12) for i in range(9) for c in range(3))
        ok(library.espalier_exact_predict_targets(models[1], byref(q), numbers, byref(lists), None))
        found = [[indices[i * k + j] for j in range(k)] for i in range(9)]
        assert all(close(numbers[i], sum(targets[j] for j in found[i]) / k, 1e-12) for i in range(9))
        radius, made = right[0][5][0] * (1 + 1e-9), c_void_p()
        ok(library.espalier_exact_radius_neighbours(models[1], byref(q), c_double(radius), None, byref(made)))
        near = lists_of(made, 9, exact=True)
        assert [sorted(j for j, _ in row) for row in near] == [sorted(j for d, j in row if d <= radius) for row in right]
        for model in models:
            library.espalier_exact_model_free(model)


def test_traces():
    receivers, columns, rows, layers, rate = 4, 3, 2, 2, 7.0
    places = [[random.uniform(-50, 50) for _ in range(3)] for _ in range(receivers)]
    grid = SourceGrid(origin=(c_double * 3)(-20, -10, 5), spacing=(c_double * 3)(9, 11, 13), columns=columns, rows=rows,
                      layers=layers)
    nodes = [(-20 + 9 * i, -10 + 11 * j, 5 + 13 * l) for l in range(layers) for j in range(rows) for i in range(columns)]
    delays = (c_int32 * (len(nodes) * receivers))()
    ok(library.espalier_compute_delays(cpu, c_int64(receivers), doubles(x for place in places for x in place), byref(grid),
                                       byref(DelayRule(samples_per_metre=rate)), delays, None))
    assert list(delays) == [math.floor(rate * math.dist(node, place) + 0.5) for node in nodes for place in places]
    samples, padding, phases = 5, 2, 4
    traces = [[float(random.randrange(16)) for _ in range(samples)] for _ in range(receivers)]
    copies = (c_float * (receivers * phases * (samples + padding)))()
    shape = InterpolationShape(receivers=receivers, samples=samples, padding=padding, phases=phases)
    ok(library.espalier_interpolate_traces(cpu, byref(shape), floats(x for trace in traces for x in trace), copies, None))
    right = []
    for trace in traces:
        for phase in range(phases):
            after = trace[1:] + trace[-1:]
            right += [(1 - phase / phases) * a + phase / phases * b for a, b in zip(trace, after)] + [0] * padding
    assert list(copies) == right


def test_progress():
    a, result, heard = floats([1, 2]), c_float(), []
    tell = Progress(lambda user, done: heard.append((user, done)) or len(heard) < 3)
    ok(library.espalier_dot_product(cpu, c_int64(2), a, a, byref(result), byref(Options(progress=tell, progress_user=7))))
    assert result.value == 5 and heard == [(7, 0.0), (7, 1.0)], heard
    refused(library.espalier_dot_product(cpu, c_int64(2), a, a, byref(result), byref(Options(progress=tell))), CANCELLED,
            "progress")
    ok(library.espalier_dot_product(cpu, c_int64(2), a, a, byref(result), byref(FirstOptions(threads=1))))


def test_plans_that_measure():
    plan, entries = c_void_p(), c_int64()
    options = Options(threads=1, effort=1, budget=10**9)
    ok(library.espalier_plan_dot_product(cpu, c_int64(4099), byref(options), byref(plan)))
    why = text_of(library.espalier_plan_explain, plan)
    library.espalier_plan_free(plan)
    refused(library.espalier_load_wisdom(b"/nowhere/w.txt", None), BAD_FILE, "nowhere")
    refused(library.espalier_save_wisdom(None), INVALID, "path is null")
    refused(library.espalier_plan_dot_product(cpu, c_int64(8), byref(Options(effort=4)), byref(plan)), INVALID, "effort")
    if "nothing was trained" in why:
        return  # a library of baselines alone, which has nothing to compare
    assert "measured here on 2" in why, why
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/w.txt".encode()
        ok(library.espalier_save_wisdom(path))
        library.espalier_forget_wisdom()
        why = text_of(library.espalier_explain_dot_product, cpu, c_int64(4099), byref(Options(threads=1)))
        assert "measured" not in why, why
        ok(library.espalier_load_wisdom(path, byref(entries)))
        assert entries.value == 1
        assert "measured here on 2" in text_of(library.espalier_explain_dot_product, cpu, c_int64(4099), byref(options))


def test_messages_are_each_threads_own():
    refused(library.espalier_device_cpu(None), INVALID, "device is null")
    other = []

    def elsewhere():
        other.append(message())
        library.espalier_load_selectors(None)
        other.append(message())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert other == ["", "path is null"], other
    assert message() == "device is null"
    library.espalier_load_selectors(b"/nowhere/" + b"\xc3\xa9" * 3000)  # longer than a message: whole characters remain
    assert len(message()) > 500


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
library.espalier_device_free(cpu)
