"""The tables that a sweep prints, as Markdown for the README."""

from typing import Optional

from sweep_data import Series, Sweep, crossings, half_bandwidth, significant, size_text, time_text

COLUMNS = (("memcpy", "measured", "memcpy"), ("put", "measured", "put"), ("get", "measured", "get"),
           ("peer put", "peer", "put"), ("peer get", "peer", "get"))
SMALL = 256  # up to here the added time counts


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join([row(head), row(["---:"] * len(head)), *map(row, rows)])


def cell(series: Optional[Series], size: int) -> str:
    point = series.at(size) if series else None
    if point is None:
        return "—"
    rate = f", {significant(point.bandwidth / 1e9)} GB/s" if size >= 1 << 10 else ""
    return time_text(point.ns) + rate


def times(sweep: Sweep) -> str:
    found = [(title, sweep.find(source, name)) for title, source, name in COLUMNS]
    columns = [(title, series) for title, series in found if series is not None]
    sizes = sorted({point.bytes for _, series in columns for point in series.points})
    return table(["bytes"] + [title for title, _ in columns],
                 [[size_text(size)] + [cell(series, size) for _, series in columns]
                  for size in sizes])


def singles(sweep: Sweep) -> str:
    rows = []
    for name in dict.fromkeys(single.name for single in sweep.singles):
        known = [sweep.single(source, name) for source in ("measured", "peer")]
        if any(known):
            rows.append([name] + [time_text(single.ns) if single else "—" for single in known])
    return table(["", "symrace", "peer"], rows) if rows else ""


def against(sweep: Sweep, name: str, size: int) -> str:
    """What an op adds to memcpy, or which part of its bandwidth it reaches."""
    op, memcpy = (series.at(size) if (series := sweep.find("measured", one)) else None
                  for one in (name, "memcpy"))
    share = sweep.share(name, size)
    if share is not None:
        return f"{share.of_memcpy:.3f} of its bandwidth"
    return f"{op.ns - memcpy.ns:+.1f} ns" if op and memcpy and size <= SMALL else ""


def ratio(op: Optional[Series], peer: Optional[Series], size: int) -> str:
    one, other = (series.at(size) if series else None for series in (op, peer))
    return f"{one.ns / other.ns:.2f}" if one and other else "—"


def ratios(sweep: Sweep) -> str:
    memcpy, put, get = (sweep.find("measured", name) for name in ("memcpy", "put", "get"))
    peer_put, peer_get = (sweep.find("peer", name) for name in ("put", "get"))
    sizes = [point.bytes for point in memcpy.points] if memcpy else []
    return table(["bytes", "put against memcpy", "get against memcpy", "put / peer put, time",
                  "get / peer get, time"],
                 [[size_text(size), against(sweep, "put", size), against(sweep, "get", size),
                   ratio(put, peer_put, size), ratio(get, peer_get, size)] for size in sizes])


def halves(sweep: Sweep) -> str:
    rows = [[series.source, series.name, size_text(half),
             f"{significant(max(p.bandwidth for p in series.points) / 1e9)} GB/s"]
            for series in sweep.series if (half := half_bandwidth(series)) is not None]
    return table(["", "op", "half-bandwidth size", "largest bandwidth"], rows) if rows else ""


def collectives(sweep: Sweep) -> str:
    return table(["ranks", "", "where"],
                 [[str(one.ranks), one.source, one.says()] for one in crossings(sweep)])


def markdown(sweep: Sweep) -> str:
    parts = ([times(sweep), singles(sweep), ratios(sweep), halves(sweep)] if sweep.kind == "rma"
             else [collectives(sweep)])
    machine = sweep.machine
    where = ", ".join(machine[key] for key in ("cpu", "peer") if key in machine)
    return "\n\n".join([f"{where}; {sweep.method}." if where else f"{sweep.method}."]
                       + [part for part in parts if part])
