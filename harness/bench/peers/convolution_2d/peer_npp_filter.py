"""nppiFilterBorder of NPP: 8-bit pixels, whole coefficients, edge pixels repeated."""

import ctypes
import functools

from arrays import in_memory

MODULES = ["numpy"]
ARRAYS = 3
REPLICATE = 2


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class StreamContext(ctypes.Structure):
    _fields_ = [("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("multiprocessors", ctypes.c_int),
                ("threads_per_multiprocessor", ctypes.c_int), ("threads_per_block", ctypes.c_int),
                ("shared_per_block", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                ("flags", ctypes.c_uint), ("reserved", ctypes.c_int)]


@functools.cache
def library():
    for major in (13, 12):
        try:
            return ctypes.CDLL(f"libnppif.so.{major}")
        except OSError:
            continue
    return None


def supports(problem):
    if library() is None:
        return "needs libnppif of the CUDA toolkit on the loader's path"
    if problem["border"] != "replicate":
        return "its only border repeats the edge"
    if problem["coefficients"] == "float32":
        return "its coefficients here are whole numbers"
    if 0 in (problem["width"], problem["height"]):
        return "it refuses empty images"
    return ""


def context():
    """Of the current device. NPP asks for what it could look up."""
    runtime = ctypes.CDLL("libcudart.so.13")
    found = StreamContext()
    attributes = {"multiprocessors": 16, "threads_per_multiprocessor": 39, "threads_per_block": 1, "major": 75, "minor": 76}
    value = ctypes.c_int()
    for name, number in attributes.items():
        runtime.cudaDeviceGetAttribute(ctypes.byref(value), number, 0)
        setattr(found, name, value.value)
    runtime.cudaDeviceGetAttribute(ctypes.byref(value), 8, 0)
    found.shared_per_block = value.value
    return found


def prepare(problem, arrays):
    import numpy
    size, channels = Size(problem["width"], problem["height"]), problem["channels"]
    function = getattr(library(), f"nppiFilterBorder_8u_C{channels}R_Ctx")
    weights = in_memory(arrays[2], [25], "f4")
    step = problem["width"] * channels
    runtime = ctypes.CDLL("libcudart.so.13")
    on_device = ctypes.c_void_p()
    if runtime.cudaMalloc(ctypes.byref(on_device), ctypes.c_size_t(100)) != 0:
        raise MemoryError("no room for 25 coefficients")
    stream = context()

    def run():
        # Its kernels run from the last coefficient to the first.
        coefficients = numpy.ascontiguousarray(weights[::-1]).astype(numpy.int32)
        runtime.cudaMemcpy(on_device, ctypes.c_void_p(coefficients.ctypes.data), ctypes.c_size_t(100), 1)
        status = function(ctypes.c_void_p(arrays[0]), step, size, Point(0, 0), ctypes.c_void_p(arrays[1]), step, size,
                          on_device, Size(5, 5), Point(2, 2), 1, REPLICATE, stream)
        if status != 0:
            raise RuntimeError(f"NPP's status {status}")
    return run
