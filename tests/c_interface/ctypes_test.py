#!/usr/bin/python3
"""The C interface from Python's ctypes, in the shared library: values against plain Python, errors as codes and messages.

usage: ctypes_test.py LIBRARY

The structs are declared here once more, by hand: a change of their layout breaks programs that were built before.
"""

import ctypes
import math
import random
import sys
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_ubyte, c_uint64, c_void_p, sizeof

OK, INVALID, UNSUPPORTED, UNKNOWN_VARIANT, NO_DEVICE, OUT_OF_MEMORY = range(6)
library = ctypes.CDLL(sys.argv[1])
library.espalier_last_error.restype = c_char_p
library.espalier_version.restype = c_char_p
library.espalier_device_key.restype = c_char_p
library.espalier_device_key.argtypes = [c_void_p]
library.espalier_plan_workspace_bytes.restype = c_size_t
library.espalier_plan_workspace_bytes.argtypes = [c_void_p]
for name in ("device_free", "plan_free", "model_free", "free_text"):
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


Options = struct("Options", 40, ("stream", c_void_p), ("variant", c_char_p), ("memory", c_int32), ("asynchronous", c_int32),
                 ("deterministic", c_int32), ("threads", c_int32))
ImageShape = struct("ImageShape", 48, ("width", c_int64), ("height", c_int64), ("image_pitch", c_int64),
                    ("result_pitch", c_int64), ("channels", c_int32), ("reserved", c_int32))
CoherentSumShape = struct("CoherentSumShape", 72, ("receivers", c_int64), ("samples", c_int64), ("sources", c_int64),
                          ("span", c_int64), ("trace_stride", c_int64), ("delay_stride", c_int64), ("sum_stride", c_int64),
                          ("precision", c_int32), ("reserved", c_int32))
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


def message():
    return library.espalier_last_error().decode()


def ok(status):
    assert status == OK, f"{status}: {message()}"


def refused(status, code, part):
    assert status == code and part in message(), f"{status}, not {code}, or '{part}' is not in: {message()}"


def floats(values):
    values = list(values)
    return (c_float * len(values))(*values)


def items(rows, **members):
    values = floats(value for row in rows for value in row)
    made = Items(values=values, count=len(rows), dims=len(rows[0]), **members)
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
    shape.image_pitch = 64
    refused(library.espalier_convolve_2d(cpu, byref(shape), floats(filter_), c_int32(7), c_int32(1), image, result, None),
            UNSUPPORTED, "shape.image_pitch is 64")


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
