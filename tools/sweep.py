#!/usr/bin/python3
"""Runs a sweep and draws it; tools/sweep builds what this needs, and calls it."""

import argparse
import os
import sys
from typing import NoReturn, Optional, Sequence

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from sweep_data import KINDS, Sweep, SweepError, read, write

DESCRIPTION = """Runs a sweep, and writes KIND.json, KIND.csv, KIND.svg and KIND.png; or draws
those anew from the JSON of sweeps that were run before."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SweepError(f"{message}; see tools/sweep --help")


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 60:
        raise argparse.ArgumentTypeError(f"'{text}' is not 0.001 to 60 seconds")
    return value


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="sweep.py", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("kind", nargs="?", choices=KINDS)
    parser.add_argument("--draw", nargs="+", metavar="FILE", help="JSON of earlier sweeps")
    parser.add_argument("--out", metavar="DIR",
                        help="for the files (default build/sweep; with --draw: beside the first)")
    parser.add_argument("--time", type=seconds, default=0.1, metavar="SECONDS",
                        help="to measure a point for (default 0.1)")
    parser.add_argument("--bench", metavar="DIR", help="of the built benchmarks")
    parser.add_argument("--a2a3sim", metavar="FILE")
    parser.add_argument("--peer", metavar="FILE", help="the peer's program (default: no peer)")
    parsed = parser.parse_args(words)
    if (parsed.kind is None) == (parsed.draw is None):
        parser.error("expected one of rma, collectives, --draw FILES")
    if parsed.kind is not None and not (parsed.bench and parsed.a2a3sim):
        parser.error("a sweep needs --bench and --a2a3sim, which tools/sweep gives")
    return parsed


def folder_for(given: Optional[str], default: str) -> str:
    folder = given or default
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise SweepError(f"cannot make folder '{folder}': {error.strerror}") from error
    return folder


def output(sweep: Sweep, folder: str) -> None:
    # Here, since it takes a second to load.
    try:
        from sweep_draw import draw  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise SweepError(f"{error}; tools/sweep installs it for /usr/bin/python3") from error
    try:
        write(sweep, folder)
        draw(sweep, folder)
    except OSError as error:
        raise SweepError(f"cannot write '{error.filename}': {error.strerror}") from error
    print(f"sweep: {os.path.join(folder, sweep.kind)}.json, .csv, .svg, .png", file=sys.stderr)


def draw_again(files: list[str], given: Optional[str]) -> None:
    sweeps = [read(file) for file in files]
    if len({sweep.kind for sweep in sweeps}) < len(sweeps):
        raise SweepError(f"two files of kind {sweeps[0].kind}; expected one of a kind")
    folder = folder_for(given, os.path.dirname(files[0]) or ".")
    for sweep in sweeps:
        output(sweep, folder)


def run(parsed: argparse.Namespace) -> None:
    from sweep_measure import (  # pylint: disable=import-outside-toplevel
        Tools, sweep_collectives, sweep_rma)
    from sweep_table import markdown  # pylint: disable=import-outside-toplevel
    folder = folder_for(parsed.out, os.path.join("build", "sweep"))
    tools = Tools(parsed.a2a3sim, parsed.bench, parsed.peer)
    sweep = (sweep_rma if parsed.kind == "rma" else sweep_collectives)(tools, parsed.time)
    output(sweep, folder)
    print(markdown(sweep))


def main(words: Sequence[str]) -> int:
    try:
        parsed = arguments(words)
        if parsed.draw is not None:
            draw_again(parsed.draw, parsed.out)
        else:
            run(parsed)
        return 0
    except SweepError as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
