"""Options that several verbs have, and what reads their values."""

import argparse
import math
from collections.abc import Callable, Sequence

from scenarios.command.verb import Argument, Takes, choice, flag, option
from scenarios.console.drawing.palette import AUTO as AUTO_THEME
from scenarios.console.drawing.palette import WORDS
from scenarios.planning.wake_paths import AUTO, FORMER, PATHS


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text}") from None


SERVER = "server"


def _agent(text: str) -> int | str:
    return text if text == SERVER else whole(text)


def agent(says: str) -> Argument:
    """Return `--agent`: the number of an agent, or `server`."""
    return option("--agent", takes=Takes.VALUE, type=_agent, metavar="I", help=says)


def _within(least: int, most: float, rule: str) -> Callable[[str], int]:
    """Return what reads a whole number from `least` to `most`; another is refused with the rule."""

    def read(text: str) -> int:
        value = whole(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(rule)
        return value

    return read


_seed = _within(0, 2**63 - 1, "a seed is a whole number from 0 to 2^63 - 1")
_jobs = _within(1, math.inf, "needs at least one worker")
some = _within(1, math.inf, "needs at least one")
number_of_runs = _within(4, 10_000_000, "needs at least 4 runs, at most ten million")


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text}") from None
    if not 0.5 <= value < 1:
        raise argparse.ArgumentTypeError("a confidence is at least 0.5 and below 1")
    return value


def above_zero(text: str) -> float:
    """Read a number from 1e-9 to 1e9."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text}") from None
    if not 1e-9 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"must be a number from 1e-9 to 1e9, got {text}")
    return value


def probability(text: str) -> float:
    """Read a number above 0 and below 1."""
    value = above_zero(text)
    if value >= 1:
        raise argparse.ArgumentTypeError(f"must be below 1, got {text}")
    return value


def seed(more: str = "overrides run.seed") -> Argument:
    """Return `--seed`."""
    return option("-s", "--seed", takes=Takes.VALUE, type=_seed, metavar="N", help=more)


def out(says: str, takes: Takes = Takes.FOLDER) -> Argument:
    """Return `--out`: a folder, or a file."""
    metavar = "DIR" if takes is Takes.FOLDER else "FILE"
    return option("-o", "--out", takes=takes, metavar=metavar, help=says)


def quiet(says: str = "say nothing but errors") -> Argument:
    """Return `--quiet`."""
    return flag("-q", "--quiet", help=says)


def jobs() -> Argument:
    """Return `--jobs`."""
    return option(
        "-j",
        "--jobs",
        takes=Takes.VALUE,
        type=_jobs,
        metavar="N",
        help="workers (default: one per core)",
    )


def confidence() -> Argument:
    """Return `--confidence`."""
    return option(
        "--confidence",
        takes=Takes.VALUE,
        type=_share,
        default=0.95,
        metavar="P",
        help="of intervals and bounds (default 0.95)",
    )


def only() -> Argument:
    """Return `--only`."""
    return option(
        "--only",
        takes=Takes.VALUE,
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only runs with this value; repeatable",
    )


JSON = flag("--json", help="write JSON to standard output")
ASCII = flag("--ascii", help="write with ASCII only")
DATA = option(
    "--data",
    takes=Takes.FOLDER,
    metavar="DIR",
    action="append",
    default=[],
    help="files may be read from here too; repeatable",
)
PATH = choice(
    "--path",
    of=PATHS,
    former=FORMER,
    dest="by_path",
    default=AUTO,
    help="how wakes are computed (default auto)",
)
DRAWN: Sequence[Argument] = (
    flag("--ascii", help="draw with ASCII only"),
    choice("--color", of=("auto", "always", "never"), default="auto", help="beats NO_COLOR"),
    choice(
        "--theme",
        of=WORDS,
        default=AUTO_THEME,
        help="colours for a dark or a light background, or 16 colours (default auto: the terminal is asked)",
    ),
)
"""What verbs have that draw on a terminal."""
COMMON: Sequence[Argument] = (
    option(
        "--set",
        takes=Takes.KEY,
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a dotted key; repeatable",
    ),
    DATA,
    flag("--allow-code", help="let the scenario name code of its own"),
    flag("--allow-large", help="lift the caps on size"),
)
"""What verbs have that read a scenario."""
