"""What the library's choices cost on problems that nothing was trained on."""

import math

from figures.drawing import Drawing, Skipped
from figures.style import DASHES, OKABE_ITO, legend_inside, new_figure
from quantities import ratio
from results import Device, geometric_mean

TICKS = (1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50)
CLOSEST = 0.07  # that labels may be, as a share of the scale


def regrets(device: Device) -> dict[str, list[float]]:
    found = {name: sorted(choice.regret for choice in family.choices.values() if math.isfinite(choice.regret))
             for name, family in device.unseen.items()}
    return {name: values for name, values in found.items() if len(values) > 1}


def depth(regret: float) -> float:
    """Spreads what is near 1."""
    return math.sqrt(math.log(max(1.0, regret)))


def draw(device: Device):
    found = regrets(device)
    if not found:
        raise Skipped(f"no unseen problems of {device.key} were graded: espalier judge does")
    figure, (axes,) = new_figure(5.8)
    for place, (name, values) in enumerate(found.items()):
        shares = [100 * (i + 0.5) / len(values) for i in range(len(values))]
        axes.plot(shares, [depth(value) for value in values], color=OKABE_ITO[place % 8], linestyle=DASHES[place % 8],
                  label=f"{name} {geometric_mean(values):.3f}")
    worst = max(values[-1] for values in found.values())
    ticks = [1.0]
    for tick in TICKS:
        if tick <= 1.02 * worst and depth(tick) - depth(ticks[-1]) > CLOSEST * depth(worst):
            ticks.append(tick)
    axes.set_yticks([depth(tick) for tick in ticks], [ratio(tick) for tick in ticks])
    axes.set(xlabel="share of the unseen problems, %", ylabel="regret", xlim=(0, 100), ylim=(-0.02, 1.05 * depth(worst)))
    legend_inside(axes)
    return figure


def drawings(device: Device) -> list[Drawing]:
    return [Drawing("regret-unseen", lambda: draw(device), "Regret of the library's choices on unseen problems, sorted: how "
                    "much longer than the best measured choice they take. After a family's name stands the geometric mean. "
                    "The scale spreads what is near 1.", list(device.unseen.values()))]
