"""torch.compile of 25 shifted slices of the padded image, in single precision."""

from arrays import tensor
from images import empty, exact_in_floats, views

MODULES = ["torch", "numpy"]
ARRAYS = 3
MODES = {"zero": "constant", "replicate": "replicate", "mirror": "reflect"}


def supports(problem):
    return empty(problem) or exact_in_floats(problem)


def prepare(problem, arrays):
    import torch
    image, result, weights = views(problem, arrays, tensor)
    height, width = problem["height"], problem["width"]

    @torch.compile
    def convolve(planes, filters):
        padded = torch.nn.functional.pad(planes.float(), (2, 2, 2, 2), MODES[problem["border"]])
        sums = torch.zeros_like(planes, dtype=torch.float32)
        for dy in range(5):
            for dx in range(5):
                sums = sums + filters[dy, dx] * padded[..., dy:dy + height, dx:dx + width]
        return sums.round().clamp(0, 255).to(torch.uint8)

    def run():
        filters = torch.from_numpy(weights).to("cuda")
        result.copy_(convolve(image.permute(2, 0, 1)[None], filters)[0].permute(1, 2, 0))
    return run
