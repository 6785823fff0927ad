"""What all figures share: the width of a column, a palette that colour-blind readers and grey print keep apart, legends
inside the axes, and files that are the same for the same data."""

import io
import re

import matplotlib

matplotlib.use("Agg")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.backends.backend_pdf import FigureCanvasPdf  # noqa: E402
from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: E402

WIDTH_CM = 8.5  # one column of a paper
NARROWED = 0.9  # what the labels leave of the room that axes have before these are laid out, at least
PNG_DOTS = 300  # per inch
# Okabe and Ito's colours, the pale yellow last.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
OTHER = "#9a9a9a"  # whatever has no colour of its own
DARK = {"#0072B2", "#D55E00", "#009E73", "#000000"}
MARKERS = "os^Dv<>P"
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 2)), (0, (1, 3)))
SETTINGS = {
    "font.family": ["DejaVu Sans"],
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "text.parse_math": False,  # names are text, whatever dollar signs they contain
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.2,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.25,
    "legend.columnspacing": 1.0,
    "legend.borderaxespad": 0.3,
    "path.simplify": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "espalier",  # the same data give the same bytes
    "pdf.fonttype": 42,  # fonts that can be edited
}
matplotlib.rcParams.update(SETTINGS)


def new_figure(height_cm: float, panels: int = 1):
    """A figure of a column's width and its axes, one under the other."""
    figure = Figure(figsize=(WIDTH_CM / 2.54, height_cm / 2.54), layout="constrained")
    found = figure.subplots(panels, 1, squeeze=False, sharex=True)
    return figure, [row[0] for row in found]


def series(place: int) -> dict:
    """Colour, marker and line of a series, each its own for the first eight."""
    if place >= len(OKABE_ITO):
        return {"color": OTHER, "marker": "x", "linestyle": ":"}
    return {"color": OKABE_ITO[place], "marker": MARKERS[place], "linestyle": DASHES[place]}


def log_axis(axis, write) -> None:
    """A logarithmic axis, `axes.xaxis` or `axes.yaxis`, whose labels `write` spells, as many as have room."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = sorted(axis.get_view_interval())
    few = high / low < 60
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=9 if axis.axis_name == "y" else 7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    axis.set_minor_locator(NullLocator())  # a logarithmic axis has hundreds, each of which takes time


def legend_inside(axes, columns: int = 2) -> None:
    """A legend at the top of the axes, above all data: the figure grows by its height. Labels of the scale end where the
    data do."""
    figure, top = axes.figure, axes.get_ylim()[1]
    legend = axes.legend(loc="upper left", ncol=columns)
    legend.set_in_layout(False)  # it must not narrow the axes
    box = legend.get_window_extent(FigureCanvasAgg(figure).get_renderer())
    if box.width > NARROWED * axes.bbox.width and columns > 1:
        return legend_inside(axes, columns - 1)
    data, room = NARROWED * axes.bbox.height, box.height + 6
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + room / figure.dpi)
    spec = axes.get_subplotspec()
    ratios = spec.get_gridspec().get_height_ratios() or [1] * spec.get_gridspec().nrows
    unit = data / ratios[spec.num1]
    spec.get_gridspec().set_height_ratios([ratio + room / unit * (i == spec.num1) for i, ratio in enumerate(ratios)])
    low, high = axes.get_ylim()
    ticks = [(tick.get_loc(), tick.label1.get_text()) for tick in axes.yaxis._update_ticks()
             if low <= tick.get_loc() <= top]
    if axes.get_yscale() == "log":
        axes.set_ylim(low, low * (high / low) ** (1 + room / data))
    else:
        axes.set_ylim(low, low + (high - low) * (1 + room / data))
    axes.set_yticks([place for place, _ in ticks], [text for _, text in ticks])
    return None


def shortened(svg: bytes) -> bytes:
    """Coordinates to a hundredth of a point, which nobody sees, and without strokes of marks that the mark itself has, or
    indentation. Texts stay as they are."""
    svg = re.sub(rb"<[^>]*>", lambda tag: re.sub(rb"-?\d+\.\d{3,}", lambda number: b"%g" % round(float(number[0]), 2),
                                                tag[0]), svg)
    svg = re.sub(rb"(<use [^>]*style=\"fill: #?\w+); stroke[^\"]*\"", rb'\1"', svg)
    return re.sub(rb"\n\s+", b"\n", re.sub(rb"(<use [^>]*) style=\"stroke[^\"]*\"", rb"\1", svg))


def file_of(figure, form: str) -> bytes:
    """The figure as SVG, PDF or PNG, without dates or names of programs. Lays it out and draws it once; savefig does both
    several times."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")
    for axes in figure.axes:  # the solver's last digits depend on the order in which it finds things in memory
        axes.set_position([round(end, 4) for end in axes.get_position().bounds])
    if form == "svg":
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    elif form == "pdf":
        FigureCanvasPdf(figure).print_pdf(buffer, metadata={"CreationDate": None, "Creator": None, "Producer": None})
    else:
        figure.set_dpi(PNG_DOTS)
        FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})
    return shortened(buffer.getvalue()) if form == "svg" else buffer.getvalue()
