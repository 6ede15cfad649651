"""The words of the command line: verbs, options and what they may be."""

import argparse
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from scenarios.language.visible_text import visible

_LIVE = ("auto", "full", "lines", "json", "off")


def spelled_out(words: Sequence[str]) -> list[str]:
    """Give `--live` its word where it has none: what follows it then is a scenario, or another option."""
    return [
        "--live=full" if word == "--live" and after not in _LIVE else word
        for word, after in pairwise([*words, ""])
    ]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors spell out what a terminal would obey: the shell may have put in names of files."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    parser = _Parser(
        prog="hush",
        description="Simulate private peer-to-peer learning: what do asynchrony, latency and dropout do "
        "to a model, and to the privacy that was promised?",
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")

    run = verbs.add_parser(
        "run", help="one run of a library scenario or a file; two of them side by side"
    )
    run.add_argument("scenario", nargs="*", help="default: quickstart")
    run.add_argument("--seed", type=_seed, help="overrides run.seed")
    run.add_argument("--out", metavar="DIR", help="the run's folder (default runs/NAME-SEED-N)")
    run.add_argument("--until", metavar="T", help='end earlier or later: seconds, or "250ms", "2m"')
    run.add_argument("--engine", choices=("virtual", "wall"))
    run.add_argument(
        "--live",
        choices=_LIVE,
        default="auto",
        help="how a run is shown (default auto: full on a terminal, else lines; without a word: full)",
    )
    run.add_argument("--quiet", action="store_true", help="the same as --live off")
    run.add_argument("--speed", metavar="X", help="simulated seconds per wall second, or max")
    run.add_argument(
        "--twice", action="store_true", help="run twice, name the first event that differs"
    )
    _drawn(run)
    _common(run)

    check = verbs.add_parser("check", help="read, resolve and judge without running")
    check.add_argument("scenario", nargs="+")
    check.add_argument("--seed", type=_seed)
    check.add_argument("--json", action="store_true")
    _common(check)

    listed = verbs.add_parser("list", help="the library, a line each")
    listed.add_argument("--json", action="store_true")

    show = verbs.add_parser("show", help="a mechanism's card, a scenario's text, or a run in words")
    show.add_argument("what", metavar="KIND|NAME|RUN")
    show.add_argument("--json", action="store_true")
    show.add_argument(
        "--ledger",
        choices=("csv", "dp-accounting"),
        help="a run's ledger as a table, or as events that dp-accounting composes",
    )
    show.add_argument("--ascii", action="store_true", help="write with ASCII only")

    _writes(verbs)
    _looks(verbs)
    _replays(verbs)
    return parser


def _writes(verbs: Any) -> None:
    """Add the verbs that make a file."""
    new = verbs.add_parser("new", help="a commented scenario to start from")
    new.add_argument("file")

    plot = verbs.add_parser("plot", help="a picture of a run")
    plot.add_argument("run", metavar="RUN")
    plot.add_argument(
        "what", metavar="WHAT", help="loss, gap, epsilon or any metric that was sampled"
    )
    plot.add_argument(
        "--x", choices=("time", "rounds", "updates", "releases", "bytes", "epsilon"), default="time"
    )
    plot.add_argument(
        "--out", metavar="FILE", help="default: RUN/WHAT.png; the ending chooses the format"
    )


def _looks(verbs: Any) -> None:
    """Add the verbs that look at many runs."""
    audit = verbs.add_parser(
        "audit", help="an empirical lower bound on ε, beside what is claimed and charged"
    )
    audit.add_argument("scenario")
    audit.add_argument(
        "--runs", type=_runs, default=1000, metavar="N", help="runs per data set (default 1000)"
    )
    audit.add_argument(
        "--confidence", type=_confidence, default=0.95, metavar="P", help="default 0.95"
    )
    audit.add_argument("--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    audit.add_argument("--view", help="whose eyes (default: the scenario's first)")
    audit.add_argument(
        "--neighbours",
        choices=("worst", "canary"),
        default="worst",
        help="the worst data known for the loss, or the scenario's own with one record replaced",
    )
    audit.add_argument(
        "--node", type=_whole, help="whose record (default: of the agent with the fewest)"
    )
    audit.add_argument("--seed", type=_seed)
    audit.add_argument("--out", metavar="DIR", help="default runs/NAME-audit-SEED-N")
    audit.add_argument("--json", action="store_true")
    _common(audit)

    attack = verbs.add_parser("attack", help="what an attacker recovers, beside what was promised")
    attack.add_argument("which", choices=("kkt", "membership"))
    attack.add_argument("scenario")
    attack.add_argument("--node", type=_whole, help="whose records")
    attack.add_argument("--record", type=_whole, default=0, help="kkt: which record (default 0)")
    attack.add_argument("--records", type=_some, default=8, help="membership: how many (default 8)")
    attack.add_argument(
        "--runs", type=_runs, default=50, metavar="N", help="membership: runs each way (default 50)"
    )
    attack.add_argument("--confidence", type=_confidence, default=0.95, metavar="P")
    attack.add_argument("--seed", type=_seed)
    attack.add_argument("--json", action="store_true")
    _common(attack)

    test = verbs.add_parser(
        "test", help="scenario files as tests; random worlds; the smallest failure"
    )
    test.add_argument(
        "path",
        nargs="*",
        metavar="PATH",
        help="files, folders of test_*.toml, names of the library, or library: for all of it",
    )
    test.add_argument("--seeds", metavar="A..B", help='such as "0..99" (default: the file\'s own)')
    test.add_argument("--swarm", type=_some, metavar="N", help="so many worlds with random faults")
    test.add_argument(
        "--shrink", action="store_true", help="write the smallest file that still fails"
    )
    test.add_argument(
        "--keep", action="store_true", help="with --swarm: keep the files of those that passed, too"
    )
    test.add_argument("--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    test.add_argument("--out", metavar="PATH", help="where shrunk files, or a swarm's, go")
    _common(test)

    explain = verbs.add_parser("explain", help="the causes of one event of a run")
    explain.add_argument("run", metavar="RUN")
    explain.add_argument("seq", type=_whole, metavar="SEQ")
    explain.add_argument("--json", action="store_true")

    diff = verbs.add_parser(
        "diff", help="the first event where two runs part, and what it did to them"
    )
    diff.add_argument("run", metavar="RUN")
    diff.add_argument("other", metavar="RUN")
    diff.add_argument("--json", action="store_true")

    sweep = verbs.add_parser("sweep", help="many runs of one scenario")
    sweep.add_argument("scenario")
    sweep.add_argument(
        "--seeds", metavar="A..B", help='such as "0..9" (default: the file\'s [sweep])'
    )
    sweep.add_argument("--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    sweep.add_argument("--out", metavar="DIR", help="default runs/NAME-sweep-N")
    _common(sweep)


def _replays(verbs: Any) -> None:
    """Add the verb that shows a recording."""
    replay = verbs.add_parser(
        "replay", help="a finished run in the live console, or a picture of a moment of it"
    )
    replay.add_argument("run", metavar="RUN")
    replay.add_argument(
        "--at", metavar="T", help="stand at this instant (a picture: default the end)"
    )
    replay.add_argument("--speed", metavar="X", help="simulated seconds per wall second, or max")
    replay.add_argument("--svg", metavar="FILE", help="write a picture instead of showing it")
    replay.add_argument("--size", metavar="COLUMNSxLINES", help="of a picture (default 100x30)")
    replay.add_argument(
        "--view",
        choices=("table", "grid", "crowd"),
        help="how agents are shown (default: by number)",
    )
    replay.add_argument("--node", type=_whole, help="open this agent")
    _drawn(replay)


def _drawn(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII only")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="beats NO_COLOR"
    )


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a dotted key; repeatable",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        action="append",
        default=[],
        help="files may be read from here too; repeatable",
    )
    parser.add_argument(
        "--allow-code", action="store_true", help="let the scenario name code of its own"
    )
    parser.add_argument("--allow-large", action="store_true", help="lift the caps on size")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text}") from None


def _within(least: int, most: float, rule: str) -> Callable[[str], int]:
    """Return what reads a whole number from `least` to `most`; another is refused with the rule."""

    def read(text: str) -> int:
        value = _whole(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(rule)
        return value

    return read


_seed = _within(0, 2**63 - 1, "a seed is a whole number from 0 to 2^63 - 1")
_jobs = _within(1, math.inf, "needs at least one worker")
_some = _within(1, math.inf, "needs at least one")
_runs = _within(4, 10_000_000, "needs at least 4 runs, at most ten million")


def _confidence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text}") from None
    if not 0.5 <= value < 1:
        raise argparse.ArgumentTypeError("a confidence is at least 0.5 and below 1")
    return value
