"""What a sweep holds, what is derived from it, and its JSON and CSV."""

import csv
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Optional

KINDS = ("rma", "collectives")
SOURCES = ("measured", "peer", "modelled", "published")
CSV_COLUMNS = ("source", "series", "ranks", "bytes", "ns", "bytes_per_second",
               "half_bandwidth_bytes", "region")
CROSSING = "ring overtakes mesh"


class SweepError(Exception):
    """One line that says what is wrong, and what was expected."""


@dataclass(frozen=True)
class Point:
    bytes: int
    ns: float

    @property
    def bandwidth(self) -> float:
        return self.bytes / self.ns * 1e9  # bytes a second


@dataclass
class Series:
    source: str
    name: str
    ranks: int
    points: list[Point]  # by size, each once

    def at(self, size: int) -> Optional[Point]:
        return next((point for point in self.points if point.bytes == size), None)


@dataclass(frozen=True)
class Single:
    """A time that has no size, as a barrier's."""
    source: str
    name: str
    ns: float


@dataclass(frozen=True)
class Share:
    """The part of memcpy's bandwidth that an op reaches, the two by turns between the same slices."""
    name: str
    bytes: int
    of_memcpy: float


@dataclass
class Sweep:
    kind: str
    date: str
    machine: dict[str, str]
    method: str
    series: list[Series] = field(default_factory=list)
    singles: list[Single] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)

    def find(self, source: str, name: str, ranks: Optional[int] = None) -> Optional[Series]:
        return next((s for s in self.series
                     if (s.source, s.name) == (source, name) and ranks in (None, s.ranks)), None)

    def single(self, source: str, name: str) -> Optional[Single]:
        return next((s for s in self.singles if (s.source, s.name) == (source, name)), None)

    def share(self, name: str, size: int) -> Optional[Share]:
        return next((s for s in self.shares if (s.name, s.bytes) == (name, size)), None)

    def ranks(self) -> list[int]:
        return sorted({series.ranks for series in self.series})


def between(x0: float, y0: float, x1: float, y1: float, y: float) -> float:
    """Where a straight line on log axes has the value y."""
    part = (math.log(y) - math.log(y0)) / (math.log(y1) - math.log(y0))
    return math.exp(math.log(x0) + part * (math.log(x1) - math.log(x0)))


def half_bandwidth(series: Series) -> Optional[float]:
    """The size at which the op first reaches half of its own largest bandwidth, interpolated on log
    axes; None where it has not been seen below that."""
    half = max(point.bandwidth for point in series.points) / 2
    before: Optional[Point] = None
    for point in series.points:
        if point.bandwidth >= half:
            if before is None:
                return None
            return between(before.bytes, before.bandwidth, point.bytes, point.bandwidth, half)
        before = point
    return None


@dataclass(frozen=True)
class Crossing:
    source: str
    ranks: int
    bytes: Optional[float]  # None: not up to the largest
    smallest: int           # of the sizes that were compared
    largest: int

    def says(self) -> str:
        if self.bytes is None:
            return f"ring does not overtake mesh up to {size_text(self.largest)}"
        if self.bytes <= self.smallest:
            return f"ring is ahead of mesh from {size_text(self.smallest)} on"
        return f"{CROSSING} at {size_text(self.bytes)}"


def crossing(mesh: Series, ring: Series) -> Optional[Crossing]:
    """The size from which on ring takes less time than mesh, interpolated on log axes."""
    both = [(m.bytes, r.ns / m.ns) for m in mesh.points for r in ring.points if m.bytes == r.bytes]
    if not both:
        return None
    behind = [i for i, (_, ratio) in enumerate(both) if ratio >= 1]
    if not behind:
        at: Optional[float] = both[0][0]
    elif behind[-1] + 1 == len(both):
        at = None
    else:
        at = between(*both[behind[-1]], *both[behind[-1] + 1], 1.0)
    return Crossing(ring.source, ring.ranks, at, both[0][0], both[-1][0])


def crossings(sweep: Sweep) -> list[Crossing]:
    found = []
    for source in ("measured", "modelled"):
        for ranks in sweep.ranks():
            mesh, ring = (sweep.find(source, name, ranks) for name in ("mesh", "ring"))
            found.append(crossing(mesh, ring) if mesh and ring else None)
    return [c for c in found if c is not None]


def significant(value: float, digits: int = 3) -> str:
    """1234.5 as 1234 (no digit of an integer is hidden), 12.345 as 12.3, 0.012345 as 0.0123."""
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0) if value else 0
    return f"{value:.{decimals}f}"


def size_text(size: float) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            value = size / scale
            whole = abs(value - round(value)) < 0.005
            return f"{round(value)} {unit}" if whole else f"{significant(value, 2)} {unit}"
    return f"{round(size)} B"


def time_text(ns: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= scale * 0.9995:
            return f"{significant(ns / scale)} {unit}"
    return f"{significant(ns)} ns"


def rounded(size: Optional[float]) -> Optional[int]:
    return None if size is None else round(size)


def series_to_json(sweep: Sweep, series: Series) -> dict[str, Any]:
    result: dict[str, Any] = {"source": series.source, "name": series.name, "ranks": series.ranks}
    if sweep.kind == "rma":
        result["half_bandwidth_bytes"] = rounded(half_bandwidth(series))
        result["largest_bytes_per_second"] = round(max(p.bandwidth for p in series.points))
    result["points"] = [{"bytes": p.bytes, "ns": round(p.ns, 3)} for p in series.points]
    return result


def to_json(sweep: Sweep) -> dict[str, Any]:
    result: dict[str, Any] = {
        "format": 1,
        "kind": sweep.kind,
        "date": sweep.date,
        "machine": sweep.machine,
        "method": sweep.method,
        "series": [series_to_json(sweep, series) for series in sweep.series],
        "singles": [{"source": s.source, "name": s.name, "ns": round(s.ns, 3)}
                    for s in sweep.singles],
    }
    if sweep.kind == "rma":
        result["of_memcpy"] = [{"name": s.name, "bytes": s.bytes, "of_memcpy": round(s.of_memcpy, 4)}
                               for s in sweep.shares]
    if sweep.kind == "collectives":
        result["crossings"] = [
            {"source": c.source, "ranks": c.ranks, "bytes": rounded(c.bytes), "up_to": c.largest}
            for c in crossings(sweep)]
    return result


def check(condition: bool, problem: str) -> None:
    if not condition:
        raise SweepError(problem)


def positive(value: Any, what: str) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    check(number and math.isfinite(value) and value > 0,
          f"{what} is {json.dumps(value)}; expected a positive number")
    return float(value)


def integer(value: Any, what: str) -> int:
    check(isinstance(value, int), f"{what} is {json.dumps(value)}; expected a positive integer")
    return int(positive(value, what))


def text(value: Any, what: str) -> str:
    check(isinstance(value, str), f"{what} is {json.dumps(value)}; expected text")
    return str(value)


def elements(value: Any, what: str) -> list[dict[str, Any]]:
    check(isinstance(value, list) and all(isinstance(element, dict) for element in value),
          f"{what} is no list of objects")
    return list(value)


def points_from_json(entries: Any, what: str) -> list[Point]:
    points = [Point(integer(e.get("bytes"), f"'bytes' of {what}"),
                    positive(e.get("ns"), f"'ns' of {what}"))
              for e in elements(entries, f"'points' of {what}")]
    points.sort(key=lambda point: point.bytes)
    check(bool(points), f"{what} has no points")
    check(len({point.bytes for point in points}) == len(points), f"{what} has a size twice")
    return points


def source_of(entry: dict[str, Any], what: str) -> str:
    source = text(entry.get("source"), f"'source' of {what}")
    check(source in SOURCES,
          f"'source' of {what} is '{source}'; expected one of {', '.join(SOURCES)}")
    return source


def from_json(document: Any) -> Sweep:
    check(isinstance(document, dict) and document.get("format") == 1
          and document.get("kind") in KINDS,
          "is no sweep; expected the JSON that tools/sweep writes, format 1")
    machine = document.get("machine", {})
    check(isinstance(machine, dict), "'machine' is no object")
    if "cores" in machine:
        check(str(machine["cores"]).isdigit(), "'machine.cores' is no number in text")
    sweep = Sweep(document["kind"], text(document.get("date", ""), "'date'"),
                  {key: text(value, f"'machine.{key}'") for key, value in machine.items()},
                  text(document.get("method", ""), "'method'"))
    for entry in elements(document.get("series"), "'series'"):
        name = text(entry.get("name"), "'name' of a series")
        what = f"series '{name}'"
        sweep.series.append(Series(source_of(entry, what), name,
                                   integer(entry.get("ranks", 2), f"'ranks' of {what}"),
                                   points_from_json(entry.get("points"), what)))
    check(bool(sweep.series), "has no series")
    for entry in elements(document.get("singles", []), "'singles'"):
        name = text(entry.get("name"), "'name' of a single")
        sweep.singles.append(Single(source_of(entry, f"single '{name}'"), name,
                                    positive(entry.get("ns"), f"'ns' of single '{name}'")))
    for entry in elements(document.get("of_memcpy", []), "'of_memcpy'"):
        name = text(entry.get("name"), "'name' of a part of memcpy's bandwidth")
        sweep.shares.append(Share(name, integer(entry.get("bytes"), f"'bytes' of '{name}'"),
                                  positive(entry.get("of_memcpy"), f"'of_memcpy' of '{name}'")))
    return sweep


def read(path: str) -> Sweep:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise SweepError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise SweepError(f"'{path}' is no JSON") from error
    try:
        return from_json(document)
    except SweepError as error:
        raise SweepError(f"'{path}': {error}") from error


def csv_rows(sweep: Sweep) -> Iterable[tuple[Any, ...]]:
    for series in sweep.series:
        half = half_bandwidth(series) if sweep.kind == "rma" else None
        for point in series.points:
            region = "" if half is None else region_of(point.bytes, half)
            yield (series.source, series.name, series.ranks, point.bytes, round(point.ns, 3),
                   round(point.bandwidth), rounded(half), region)
    for single in sweep.singles:
        yield (single.source, single.name, 2, None, round(single.ns, 3), None, None, None)
    if sweep.kind == "collectives":
        for c in crossings(sweep):
            yield (c.source, CROSSING, c.ranks, rounded(c.bytes), None, None, None, None)


def region_of(size: float, half: float) -> str:
    return "latency-bound" if size < half else "bandwidth-bound"


def write(sweep: Sweep, folder: str) -> None:
    """DIR/KIND.json and DIR/KIND.csv."""
    stem = os.path.join(folder, sweep.kind)
    with open(stem + ".json", "w", encoding="utf-8") as file:
        json.dump(to_json(sweep), file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(stem + ".csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        writer.writerows(csv_rows(sweep))
