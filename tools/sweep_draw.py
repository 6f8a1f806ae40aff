"""Draws a sweep, as SVG and as PNG."""

import math
import os
from dataclasses import dataclass
from typing import Any, Optional

import matplotlib

matplotlib.use("Agg")
# pylint: disable=wrong-import-position
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from sweep_data import (Crossing, Series, Sweep, crossings, half_bandwidth, size_text,
                        time_text)

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#8A8A8A"
LATENCY_SHADE, BANDWIDTH_SHADE = SKY, ORANGE


@dataclass(frozen=True)
class Style:
    source: str
    name: str
    label: str
    color: str
    line: str = "-"
    width: float = 1.8
    marker: str = ""
    half: bool = True  # its half-bandwidth size is named


MEASURED = (
    Style("measured", "memcpy", "memcpy (the limit)", GREY, width=5.0),
    Style("measured", "put", "put", BLUE),
    Style("measured", "get", "get", VERMILION),
    Style("measured", "remote_store", "remote_store", GREEN),
    Style("measured", "remote_load", "remote_load", PURPLE),
    Style("measured", "put Add", "put Add", ORANGE),
    Style("peer", "put", "peer put", BLUE, "--", 1.5),
    Style("peer", "get", "peer get", VERMILION, "--", 1.5),
)
MODELLED = (
    Style("modelled", "get staged", "get, staged", VERMILION),
    Style("modelled", "put staged", "put, staged", BLUE, "", 1.2, "+"),
    Style("modelled", "get staged, pipelined", "get, staged, pipelined", VERMILION, ":"),
    Style("modelled", "get async", "get, async", BLACK),
    Style("modelled", "put async", "put, async", BLUE, "", 1.2, "x"),
    Style("modelled", "remote_store", "remote_store", GREEN),
    Style("modelled", "remote_load", "remote_load", PURPLE, "--"),
    Style("published", "get staged", "published: get, staged", VERMILION, "", 1.2, "o", False),
    Style("published", "get async", "published: get, async", BLACK, "", 1.2, "o", False),
)
# Where the regions of a column are taken from.
MEASURED_BASE = (("measured", "put"), ("measured", "get"))
MODELLED_BASE = (("modelled", "get staged"), ("modelled", "get async"))
MODES = (("mesh", BLUE, "o"), ("two_phase", GREEN, "s"), ("ring", VERMILION, "^"))

SETTINGS = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.5,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "symrace",
}
BOX = {"facecolor": "white", "alpha": 0.95, "edgecolor": "none", "pad": 1.5}


def short_size(size: float, _position: Any = None) -> str:
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= scale:
            return f"{size / scale:g}{unit}"
    return f"{size:g}"


def short_time(ns: float, _position: Any = None) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= scale * 0.999:
            return f"{ns / scale:g} {unit}"
    return f"{ns:g} ns"


def short_rate(rate: float, _position: Any = None) -> str:
    return f"{rate / 1e9:g} GB/s" if rate >= 0.999e9 else f"{rate / 1e6:g} MB/s"


def set_size_axis(axes: Axes, sizes: list[int], labelled: bool) -> None:
    """A tick at every power of four, or of sixteen where there are many."""
    low, high = min(sizes), max(sizes)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low / 1.3, high * 1.3)
    exponents = range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1, 2)
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in exponents]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(short_size) if labelled else NullFormatter())
    if labelled:
        axes.set_xlabel("size in bytes (K = KiB, M = MiB)")


def set_value_axis(axes: Axes, formatter: Any, title: Optional[str]) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(formatter))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelleft=True)
    if title is not None:
        axes.set_ylabel(title)


def regions(sweep: Sweep, base: tuple[tuple[str, str], ...]) -> Optional[tuple[float, float]]:
    """Below the first of the two sizes all of these ops are latency-bound, above the second all are
    bandwidth-bound."""
    found = [sweep.find(*which) for which in base]
    halves = [half_bandwidth(series) for series in found if series is not None]
    known = [half for half in halves if half is not None]
    return (min(known), max(known)) if known else None


def shade(axes: Axes, bounds: Optional[tuple[float, float]], named: bool, between: str) -> None:
    if bounds is None:
        return
    low, high = axes.get_xlim()
    axes.axvspan(low, bounds[0], color=LATENCY_SHADE, alpha=0.14, linewidth=0)
    axes.axvspan(bounds[1], high, color=BANDWIDTH_SHADE, alpha=0.14, linewidth=0)
    if not named:
        return
    names = ((low, bounds[0], f"latency-bound\nbelow {size_text(bounds[0])}"),
             (bounds[0], bounds[1], between),
             (bounds[1], high, f"bandwidth-bound\nabove {size_text(bounds[1])}"))
    for begin, end, name in names:
        if math.log(end / begin) > 0.18 * math.log(high / low):
            axes.text(math.sqrt(begin * end), 0.985, name, transform=axes.get_xaxis_transform(),
                      ha="center", va="top", fontsize=9.5, color="#444444")


def draw_line(axes: Axes, style: Style, sizes: list[int], values: list[float]) -> None:
    hollow = style.source == "published"
    axes.plot(sizes, values, color=style.color, linestyle=style.line or "none",
              linewidth=style.width, marker=style.marker, markersize=7 if style.marker else 0,
              markerfacecolor="white" if hollow else style.color, markeredgewidth=1.4,
              alpha=0.45 if style.color == GREY else 1.0, zorder=4 if style.marker else 3)


def mark_half(axes: Axes, series: Series, color: str) -> None:
    half = half_bandwidth(series)
    if half is not None:
        largest = max(point.bandwidth for point in series.points)
        axes.plot([half], [largest / 2], marker="D", markersize=6, color=color,
                  markeredgecolor="white", markeredgewidth=0.8, zorder=5)


def legend_entry(style: Style, series: Series) -> Line2D:
    half = half_bandwidth(series) if style.half else None
    label = style.label if half is None else f"{style.label}: n½ = {size_text(half)}"
    return Line2D([], [], color=style.color, linestyle=style.line or "none",
                  linewidth=style.width, marker=style.marker, markersize=7,
                  markerfacecolor="white" if style.source == "published" else style.color,
                  markeredgewidth=1.4, alpha=0.45 if style.color == GREY else 1.0, label=label)


def draw_column(sweep: Sweep, latency: Axes, bandwidth: Axes, styles: tuple[Style, ...]) -> None:
    entries = []
    for style in styles:
        series = sweep.find(style.source, style.name)
        if series is None:
            continue
        sizes = [point.bytes for point in series.points]
        draw_line(latency, style, sizes, [point.ns for point in series.points])
        draw_line(bandwidth, style, sizes, [point.bandwidth for point in series.points])
        if style.half and style.line:
            mark_half(bandwidth, series, style.color)
        entries.append(legend_entry(style, series))
    bandwidth.legend(handles=entries, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=2,
                     fontsize=9.5, frameon=False, columnspacing=1.5, handlelength=2.6)


def singles_text(sweep: Sweep, sources: tuple[tuple[str, str], ...]) -> str:
    """A line for each time that has no size."""
    names = list(dict.fromkeys(single.name for single in sweep.singles))
    lines = []
    for name in names:
        times = [(title, sweep.single(source, name)) for source, title in sources]
        known = [f"{title}{time_text(single.ns)}" for title, single in times if single is not None]
        if known:
            lines.append(f"{name}: {', '.join(known)}")
    return "\n".join(lines)


def note(axes: Axes, text: str) -> None:
    if text:
        axes.text(0.02, 0.84, text, transform=axes.transAxes, ha="left", va="top", fontsize=9.5,
                  linespacing=1.5, zorder=6)


def heading(figure: Figure, title: str, sweep: Sweep, top: float) -> None:
    machine = sweep.machine
    parts = [machine.get("cpu", ""), f"{machine['cores']} cores" if "cores" in machine else "",
             f"peer: {machine['peer']}, OpenSHMEM" if "peer" in machine else "", sweep.method,
             sweep.date[:10]]
    figure.suptitle(title, x=0.5, y=top, fontsize=14, fontweight="bold", va="top")
    figure.text(0.5, top - 0.33 / figure.get_figheight(), " · ".join(filter(None, parts)),
                ha="center", va="top", fontsize=9.5, color="#444444")


def all_sizes(sweep: Sweep) -> list[int]:
    return [point.bytes for series in sweep.series for point in series.points]


def limits(values: list[float], room: float) -> tuple[float, float]:
    """With `room`, a part of the height, left free above."""
    low, high = min(values) / 1.5, max(values) * 1.5
    return low, low * (high / low) ** (1 / (1 - room))


def draw_rma(sweep: Sweep) -> Figure:
    figure, grid = pyplot.subplots(2, 2, figsize=(13.5, 11), sharex="all", sharey="row")
    figure.subplots_adjust(left=0.08, right=0.985, top=0.895, bottom=0.19, hspace=0.07,
                           wspace=0.14)
    columns = ((MEASURED, MEASURED_BASE, "measured: the direct engine on this machine", ""),
               (MODELLED, MODELLED_BASE, "modelled: the emulator's clock for a2a3",
                "async: latency\nstaged: bandwidth"))
    drawn = [sweep.find(style.source, style.name) for style in MEASURED + MODELLED]
    points = [point for series in drawn if series is not None for point in series.points]
    for column, (styles, base, title, between) in enumerate(columns):
        latency, bandwidth = grid[0][column], grid[1][column]
        latency.set_title(title)
        for axes, labelled in ((latency, False), (bandwidth, True)):
            set_size_axis(axes, all_sizes(sweep), labelled)
        set_value_axis(latency, short_time, "time of one op" if column == 0 else None)
        set_value_axis(bandwidth, short_rate, "bandwidth" if column == 0 else None)
        latency.set_ylim(limits([point.ns for point in points], 0.02))
        bandwidth.set_ylim(limits([point.bandwidth for point in points], 0.1))
        bounds = regions(sweep, base)
        shade(latency, bounds, True, between)
        shade(bandwidth, bounds, True, between)
        draw_column(sweep, latency, bandwidth, styles)
    note(grid[0][0], singles_text(sweep, (("measured", ""), ("peer", "peer "))))
    note(grid[0][1], singles_text(sweep, (("modelled", ""),)))
    figure.align_ylabels(grid[:, 0])
    heading(figure, "One-sided operations between two ranks", sweep, 0.985)
    figure.text(0.5, 0.012, "◆ n½, the half-bandwidth size: where an op reaches half of its own "
                "largest bandwidth. Shading: below, and above, n½ of put and get.",
                ha="center", fontsize=9.5, color="#444444")
    return figure


def mark_crossing(axes: Axes, crossing: Crossing) -> None:
    if crossing.bytes is not None and crossing.bytes > crossing.smallest:
        axes.axvline(crossing.bytes, color="#444444", linestyle=(0, (4, 3)),
                     linewidth=1.1, zorder=2)
    axes.text(0.02, 0.95, crossing.says(), transform=axes.transAxes, ha="left", va="top",
              fontsize=10, bbox=BOX, zorder=6)


def draw_modes(axes: Axes, sweep: Sweep, source: str, ranks: int) -> None:
    found = [(mode, sweep.find(source, mode[0], ranks)) for mode in MODES]
    if all(series is None for _, series in found):
        axes.text(0.5, 0.5, f"not {source}", transform=axes.transAxes, ha="center",
                  color="#444444")
        return
    cores = int(sweep.machine.get("cores", ranks))
    if source == "measured" and ranks > cores:
        axes.text(0.02, 0.85, f"{ranks} ranks on {cores} cores", transform=axes.transAxes,
                  ha="left", va="top", fontsize=10, color="#444444")
    for (name, color, marker), series in found:
        if series is not None:
            axes.plot([point.bytes for point in series.points],
                      [point.ns for point in series.points], color=color, marker=marker,
                      markersize=5, linewidth=1.8, label=name, zorder=3)
    for one in crossings(sweep):
        if (one.source, one.ranks) == (source, ranks):
            mark_crossing(axes, one)


def draw_collectives(sweep: Sweep) -> Figure:
    rows = sweep.ranks()
    height = 1.9 + 2.9 * len(rows)
    figure, grid = pyplot.subplots(len(rows), 2, figsize=(12.5, height), sharex="all",
                                   sharey="col", squeeze=False)
    figure.subplots_adjust(left=0.085, right=0.985, top=1 - 1.15 / height, bottom=0.95 / height,
                           hspace=0.1, wspace=0.17)
    titles = {"measured": "measured: wall time on the direct engine",
              "modelled": "modelled: the emulator's clock for a2a3"}
    for column, source in enumerate(titles):
        values = [point.ns for series in sweep.series if series.source == source
                  for point in series.points]
        grid[0][column].set_title(titles[source])
        for row, ranks in enumerate(rows):
            axes = grid[row][column]
            set_size_axis(axes, all_sizes(sweep), row + 1 == len(rows))
            set_value_axis(axes, short_time,
                           f"{ranks} ranks: time of a call" if column == 0 else None)
            if values:
                axes.set_ylim(limits(values, 0.1))
            draw_modes(axes, sweep, source, ranks)
    handles = [Line2D([], [], color=color, marker=marker, markersize=5, linewidth=1.8, label=name)
               for name, color, marker in MODES]
    figure.legend(handles=handles, loc="lower center", ncol=len(handles), frameon=False,
                  bbox_to_anchor=(0.5, 0.0))
    heading(figure, "Three all-reduces", sweep, 1 - 0.15 / height)
    return figure


def draw(sweep: Sweep, folder: str) -> None:
    """DIR/KIND.svg and DIR/KIND.png."""
    with pyplot.rc_context(SETTINGS):
        figure = draw_rma(sweep) if sweep.kind == "rma" else draw_collectives(sweep)
        stem = os.path.join(folder, sweep.kind)
        figure.savefig(stem + ".svg", metadata={"Date": None})
        figure.savefig(stem + ".png", dpi=110)
        pyplot.close(figure)
