"""Runs the benchmarks, the peer and the emulator, and puts what they print into a sweep."""

import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from sweep_data import Point, Series, Share, Single, Sweep, SweepError

ROUNDS = 5
SIZES = [4 << (2 * i) for i in range(12)]  # to 16 MiB
ON_CORE_BYTES = 128 << 10  # the largest of them that fits the on-core buffer
MEASURED_NAMES = {"Memcpy": "memcpy", "Put": "put", "Get": "get", "PutAdd": "put Add",
                  "RemoteLoad": "remote_load", "RemoteStore": "remote_store"}
SINGLE_NAMES = {"PingPong": "ping-pong, one way", "PingPongAdd": "ping-pong by AtomicAdd, one way",
                "Barrier": "barrier"}
BESIDE_NAMES = {"PutBesideMemcpy": "put", "GetBesideMemcpy": "get"}
MODES = ["mesh", "two_phase", "ring"]
OWN_CHUNK = 64 << 10  # of rma_bench, where a transfer does not fit the on-core buffer
PUBLISHED_CHUNK = 4096
TICK_NS = 20.0  # of the counter that the published cycles are of
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True)
class Tools:
    a2a3sim: str
    bench: str
    peer: Optional[str]  # None: leave it out


def say(line: str) -> None:
    print(f"sweep: {line}", file=sys.stderr)


def output_of(command: Sequence[str], environment: Optional[dict[str, str]] = None,
              may_fail: bool = False) -> str:
    name = os.path.basename(command[0])
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, env=environment, check=False)
    except OSError as error:
        raise SweepError(f"cannot run '{command[0]}': {error.strerror}") from error
    if done.returncode != 0 and not may_fail:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise SweepError(f"{name} failed with status {done.returncode}"
                         + (f": {lines[-1]}" if lines else ""))
    return done.stdout.decode(errors="replace")


def parsed(output: str, name: str) -> Any:
    try:
        return json.loads(output)
    except ValueError as error:
        raise SweepError(f"{name} printed no complete JSON") from error


def name_of(entry: dict[str, Any]) -> str:
    return re.sub(r"/(real_time|manual_time|iterations:\d+|repeats:\d+)", "", entry["name"])


def best_times(entries: list[dict[str, Any]], name: str) -> dict[str, float]:
    """By benchmark the least time of all rounds, in ns; of a ping-pong that of one way."""
    best: dict[str, float] = {}
    for entry in entries:
        if entry.get("run_type", "iteration") != "iteration":
            continue
        if entry.get("error_occurred"):
            raise SweepError(f"{name}: {entry['name']}: {entry.get('error_message', 'failed')}")
        ns = entry["real_time"] * UNITS[entry["time_unit"]]
        if "one_way" in entry:
            ns = entry["one_way"] * 1e9
        key = name_of(entry)
        best[key] = min(ns, best.get(key, ns))
    return best


def shares_from(entries: list[dict[str, Any]]) -> list[Share]:
    """From names OpBesideMemcpy/bytes/chunk: of all rounds the median."""
    rounds: dict[tuple[str, int], list[float]] = {}
    for entry in entries:
        op, *numbers = name_of(entry).split("/")
        if op in BESIDE_NAMES and entry.get("run_type", "iteration") == "iteration":
            rounds.setdefault((BESIDE_NAMES[op], int(numbers[0])), []).append(entry["of_memcpy"])
    return [Share(*key, statistics.median(rounds[key])) for key in sorted(rounds)]


def google_benchmark(program: str, seconds: float, rounds: int,
                     only: str = ".") -> tuple[dict[str, float], list[Share]]:
    name = os.path.basename(program)
    say(f"{name}: {rounds} rounds" if rounds > 1 else f"{name}: once")
    mixed = "true" if rounds > 1 else "false"
    output = output_of([program, "--benchmark_format=json", f"--benchmark_filter={only}",
                        f"--benchmark_min_time={seconds / rounds:.6f}",
                        f"--benchmark_repetitions={rounds}",
                        f"--benchmark_enable_random_interleaving={mixed}"])
    entries = parsed(output, name)["benchmarks"]
    best = best_times(entries, name)
    if not best:
        raise SweepError(f"{name} has no benchmarks that match '{only}'")
    return best, shares_from(entries)


def series_from(source: str, times: dict[str, float]) -> tuple[list[Series], list[Single]]:
    """From names Op, Op/bytes and Op/bytes/chunk. Chunks that are not our usual ones make series of
    their own."""
    series: dict[str, Series] = {}
    singles = []
    for key, ns in times.items():
        op, *numbers = key.split("/")
        if not numbers and op in SINGLE_NAMES:
            singles.append(Single(source, SINGLE_NAMES[op], ns))
            continue
        if op not in MEASURED_NAMES or not all(number.isdigit() for number in numbers):
            continue
        name = MEASURED_NAMES[op]
        if len(numbers) > 1 and int(numbers[1]) not in (0, OWN_CHUNK):
            name += f", chunks of {numbers[1]} bytes"
        one = series.setdefault(name, Series(source, name, 2, []))
        one.points.append(Point(int(numbers[0]), ns))
    for one in series.values():
        one.points.sort(key=lambda point: point.bytes)
    # Benchmarks come in a random order.
    ops = list(MEASURED_NAMES.values())
    names = sorted(series, key=lambda name: (ops.index(name.split(",")[0]), len(name), name))
    return [series[name] for name in names], sorted(singles, key=lambda single: single.name)


def run_peer(program: str, seconds: float) -> dict[str, float]:
    """Best of five rounds too. Its exit status is not asked for: Open MPI may crash at its end."""
    say("peer_oshmem: OpenSHMEM on two PEs")
    command = ["oshrun", "-n", "2", "--bind-to", "core"]
    if (os.cpu_count() or 1) < 2:
        command.append("--oversubscribe")
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    output = output_of(command + [program, str(seconds)], environment, may_fail=True)
    return best_times(parsed(output, "peer_oshmem")["benchmarks"], "peer_oshmem")


def emulated(a2a3sim: str, clock: str, program: Sequence[str], size: int) -> list[dict[str, Any]]:
    """The events of rank 0's transfers in a run with so many bytes a rank."""
    output = output_of([a2a3sim, "-d", "0,1", *program, "--size", str(size // 4), "--races", "off",
                        "--clock", clock, "--json", "-"])
    events = parsed(output, "a2a3sim")["run"]["events"]
    return [event for event in events if event["rank"] == 0]


def time_of_op(events: list[dict[str, Any]], op: str, clock: str) -> float:
    """In ns, from its begin to where its last byte is there. The kernel posts a put right after the
    stores to its source; that it waits for those is no part of it. The copy engine waits for all of
    them, a staged put for those to its first chunk."""
    lands = op in ("put", "remote_store")
    own = [e for e in events if e.get("op") == op and e["kind"] == ("land" if lands else "act")]
    begin = min(event["begin_ps"] for event in own)
    if op == "put":
        stores = [e for e in events if e.get("op") == "store" and e["kind"] == "land"]
        needed = stores if clock == "a2a3-async" else [e for e in stores if e["offset"] == 0]
        begin = max([begin, *(event["end_ps"] for event in needed)])
    return (max(event["end_ps"] for event in own) - begin) / 1e3


def modelled_series(a2a3sim: str) -> list[Series]:
    chunks = ["--chunk-rows", "1", "--chunk-cols", str(PUBLISHED_CHUNK // 4)]
    put, get = (["06_put_get", "--mode", mode, *chunks] for mode in ("put", "get"))
    cases = [("get staged", "a2a3", get, "get"),
             ("put staged", "a2a3", put, "put"),
             ("get staged, pipelined", "a2a3", [*get, "--pipeline"], "get"),
             ("get async", "a2a3-async", get, "get"),
             ("put async", "a2a3-async", put, "put"),
             ("remote_load", "a2a3", ["05_remote_load_store", "--mode", "load"], "remote_load"),
             ("remote_store", "a2a3", ["05_remote_load_store", "--mode", "store"], "remote_store")]
    say(f"a2a3sim: {len(cases)} modelled curves")
    result = []
    for name, clock, program, op in cases:
        sizes = [s for s in SIZES if op in ("put", "get") or s <= ON_CORE_BYTES]
        points = [Point(size, time_of_op(emulated(a2a3sim, clock, program, size), op, clock))
                  for size in sizes]
        result.append(Series("modelled", name, 2, points))
    return result


def published(costs: str) -> tuple[list[Series], list[Single]]:
    """From what `a2a3sim costs` prints: gets of two cards, and the latency of a signal."""
    rows = re.findall(r"^ *(\d+) +([\d.]+) +[\d.]+ +[-+][\d.]+ % +([\d.]+) +[\d.]+ +[-+][\d.]+ %$",
                      costs, re.MULTILINE)
    signal = re.search(r"^signal_latency_ps +(\d+) ", costs, re.MULTILINE)
    if not rows or signal is None:
        raise SweepError("a2a3sim costs printed no table of published gets")
    series = [Series("published", name, 2,
                     [Point(int(row[0]), float(row[column]) * TICK_NS) for row in rows])
              for column, name in ((1, "get staged"), (2, "get async"))]
    return series, [Single("modelled", "signal latency (assumed)", int(signal[1]) / 1e3)]


def machine(peer: bool) -> dict[str, str]:
    model = "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
            model = found[1] if found else platform.machine()
    except OSError:
        model = platform.machine()
    result = {"cpu": model, "cores": str(os.cpu_count()),
              "system": f"{platform.system()} {platform.release()}"}
    if peer:
        version = re.search(r"\d+(\.\d+)+", output_of(["oshrun", "--version"], may_fail=True))
        result["peer"] = f"Open MPI {version[0]}" if version else "OpenSHMEM"
    return result


def empty_sweep(kind: str, seconds: float, peer: bool) -> Sweep:
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    return Sweep(kind, now, machine(peer),
                 f"best of {ROUNDS} rounds, {seconds:g} s a point together")


def sweep_rma(tools: Tools, seconds: float) -> Sweep:
    sweep = empty_sweep("rma", seconds, tools.peer is not None)
    times, sweep.shares = google_benchmark(os.path.join(tools.bench, "rma_bench"), seconds, ROUNDS)
    found = [series_from("measured", times)]
    if tools.peer is not None:
        found.append(series_from("peer", run_peer(tools.peer, seconds)))
    found.append((modelled_series(tools.a2a3sim), []))
    found.append(published(output_of([tools.a2a3sim, "costs"])))
    for series, singles in found:
        sweep.series += series
        sweep.singles += singles
    return sweep


def sweep_collectives(tools: Tools, seconds: float) -> Sweep:
    """From names Wall/MODE/ranks:N/bytes:B and Modelled/..., whose times are modelled ones, and the
    same in every round."""
    sweep = empty_sweep("collectives", seconds, False)
    program = os.path.join(tools.bench, "collective_bench")
    times, _ = google_benchmark(program, seconds, ROUNDS, "^Wall/")
    times.update(google_benchmark(program, 0, 1, "^Modelled/")[0])
    series: dict[tuple[str, str, int], Series] = {}
    for key, ns in times.items():
        match = re.fullmatch(r"(Wall|Modelled)/(\w+)/ranks:(\d+)/bytes:(\d+)", key)
        if match is None:
            raise SweepError(f"collective_bench: '{key}' is not MODE/ranks:N/bytes:B")
        source = "measured" if match[1] == "Wall" else "modelled"
        which = (source, match[2], int(match[3]))
        series.setdefault(which, Series(*which, [])).points.append(Point(int(match[4]), ns))
    for one in series.values():
        one.points.sort(key=lambda point: point.bytes)
    modes = list(dict.fromkeys(MODES + [mode for _, mode, _ in series]))
    sweep.series = [series[which] for which in
                    sorted(series, key=lambda w: (w[0], w[2], modes.index(w[1])))]
    return sweep
