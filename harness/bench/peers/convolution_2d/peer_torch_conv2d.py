"""torch.nn.functional.conv2d, one group per channel, in half precision."""

from arrays import tensor
from images import empty, views, whole_only

MODULES = ["torch", "numpy"]
ARRAYS = 3


def supports(problem):
    if problem["border"] != "zero":
        return "its own border is zero"
    return empty(problem) or whole_only(problem)


def prepare(problem, arrays):
    import torch
    image, result, weights = views(problem, arrays, tensor)
    channels = problem["channels"]

    def run():
        filters = torch.from_numpy(weights).to("cuda", torch.half).expand(channels, 1, 5, 5)
        planes = image.permute(2, 0, 1)[None].half()
        sums = torch.nn.functional.conv2d(planes, filters, padding=2, groups=channels)
        result.copy_(sums[0].permute(1, 2, 0).round_().clamp_(0, 255))
    return run
