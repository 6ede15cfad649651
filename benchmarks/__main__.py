"""The command: `python -m benchmarks [WORLD…]`."""

from benchmarks.threads import one_thread

one_thread()

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks import report
from benchmarks.comparisons import COMPARISONS, WORLDS, Comparison, chosen
from benchmarks.measuring import Setting, machine, peak_mb
from scenarios.language.problems import nearest

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def parser() -> argparse.ArgumentParser:
    """Build what reads the words of the command."""
    worlds = "\n".join(f"  {name:<11} {what}" for name, what in WORLDS.items())
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measure hush beside bare loops: processor time, in turns, one process for each comparison.",
        epilog=f"worlds:\n{worlds}\n\nA comparison of a world can be named, too: A/1000/100.",
    )
    made.add_argument("worlds", nargs="*", metavar="WORLD", help="which (default: all)")
    made.add_argument("--quick", action="store_true", help="tiny sizes: to see that all works")
    made.add_argument("--repeat", type=_count, default=3, metavar="N", help="turns (default 3)")
    made.add_argument("--json", type=Path, metavar="FILE", help="put what was found into a report")
    made.add_argument(
        "--against", type=Path, default=BASELINE, metavar="FILE", help="a report to compare with"
    )
    made.add_argument(
        "--gossipy", default="", metavar="PYTHON", help="of an environment with gossipy-dfl"
    )
    made.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return made


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to 1000, got {text!r}")
    return int(text)


def child(one: Comparison, setting: Setting) -> None:
    """Measure one comparison in this process, and write it to standard output."""
    begun, found_at = time.process_time(), machine()
    rows = tuple(one.measure(setting))
    measured = report.Measured(
        one.name,
        one.world,
        _version(),
        _commit(),
        setting.quick,
        setting.repeat,
        time.process_time() - begun,
        peak_mb(),
        found_at,
        rows,
    )
    sys.stdout.buffer.write(b"\n" + msgspec.json.encode(measured) + b"\n")


def _version() -> str:
    """Return the version of the hush that is measured: that of this clone."""
    import tomllib

    text = (HERE.parent / "pyproject.toml").read_text("utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def _commit() -> str:
    """Return the commit of this clone, in short; empty where it is none."""
    command = ["git", "-C", str(HERE.parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def measured_in_child(one: Comparison, asked: argparse.Namespace) -> report.Measured:
    """Measure one comparison in a process of its own; raise `ChildFailed` where it fails."""
    words = [one.name, "--child", "--repeat", str(asked.repeat), "--gossipy", asked.gossipy]
    if asked.quick:
        words.append("--quick")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=HERE.parent,
        env=os.environ | {"PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        raise ChildFailed(f"{one.name}: the measurement ended with code {done.returncode}")
    return msgspec.json.decode(done.stdout.strip().splitlines()[-1], type=report.Measured)


class ChildFailed(Exception):
    """A comparison that could not be measured."""


def main(words: Sequence[str] | None = None) -> int:
    """Measure what is asked for; return the exit code."""
    asked = parser().parse_args(words)
    try:
        comparisons = chosen(asked.worlds)
    except LookupError as error:
        names = [*WORLDS, *(one.name for one in COMPARISONS)]
        hint = nearest(str(error), names)
        print(f"benchmarks: no world is called {str(error)!r}; {hint}", file=sys.stderr)
        return USAGE
    if asked.child:
        setting = Setting(asked.quick, asked.repeat, asked.gossipy)
        child(comparisons[0], setting)
        return FINE
    try:
        baseline = report.read(asked.against) if _wanted(asked.against) else None
        kept = report.Report(report.SUITE)
        if asked.json is not None and asked.json.exists():
            kept = report.read(asked.json)
        return _measure_all(comparisons, asked, kept, baseline)
    except report.ReportError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("benchmarks: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED


def _wanted(baseline: Path) -> bool:
    """Whether there is a baseline: the kept one may be missing, one that is named may not."""
    return baseline != BASELINE or baseline.exists()


def _measure_all(
    comparisons: Sequence[Comparison],
    asked: argparse.Namespace,
    kept: report.Report,
    baseline: report.Report | None,
) -> int:
    """Measure one after the other; what is found is written after each."""
    code = FINE
    print(_about(), flush=True)
    for one in comparisons:
        print(f"{one.name}: {WORLDS[one.world]}", flush=True)
        try:
            measured = measured_in_child(one, asked)
        except ChildFailed as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            code = FAILED
            continue
        for line in report.lines(measured, baseline):
            print(line, flush=True)
        if asked.json is not None:
            kept = report.Report(report.SUITE, kept.comparisons | {one.name: measured})
            report.write(asked.json, kept)
    return code


def _about() -> str:
    here = machine()
    return (
        f"hush {_version()} {_commit()}, {here.processor}, {here.cores} cores, {here.memory_gb:g} GB, "
        f"Python {here.python}, load {here.load:g}; best of the turns [least … most]; "
        "read ratios, not seconds"
    )


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    raise SystemExit(main())
