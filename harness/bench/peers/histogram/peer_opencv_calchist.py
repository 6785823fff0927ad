"""cv2.calcHist over bytes, whose counts are single precision."""

from arrays import in_memory

MODULES = ["cv2", "numpy"]
ARRAYS = 2
WIDTH = 4096


def supports(problem):
    if problem["bytes"] == 0:
        return "it refuses no values"
    if problem["bytes"] > 1 << 24:
        return "its counts are single precision, exact up to 16,777,216"
    return ""


def prepare(problem, arrays):
    import cv2
    width = WIDTH if problem["bytes"] % WIDTH == 0 else problem["bytes"]
    image = in_memory(arrays[0], [problem["bytes"] // width, width], "u1")
    counts = in_memory(arrays[1], [256], "u8")

    def run():
        counts[:] = cv2.calcHist([image], [0], None, [256], [0, 256]).ravel()
    return run
