"""The words of the command line: verbs, options and what they may be."""

import argparse
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from scenarios.language.visible_text import visible
from scenarios.planning.wake_paths import AUTO, PATHS

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

    add = verbs.add_parser(
        "run", help="one run of a library scenario or a file; two of them side by side"
    ).add_argument
    add("scenario", nargs="*", help="default: quickstart")
    add("-s", "--seed", type=_seed, help="overrides run.seed")
    add("-o", "--out", metavar="DIR", help="the run's folder (default runs/NAME-SEED-N)")
    add("--until", metavar="T", help='end earlier or later: seconds, or "250ms", "2m"')
    add("--engine", choices=("virtual", "wall"))
    add(
        "--live",
        choices=_LIVE,
        default="auto",
        help="how a run is shown (default auto: full on a terminal, else lines; without a word: full)",
    )
    add("-q", "--quiet", action="store_true", help="the same as --live off")
    add("--speed", metavar="X", help="simulated seconds per wall second, or max")
    add("--twice", action="store_true", help="run twice, name the first event that differs")
    add(
        "--profile",
        action="store_true",
        help="tell where processor time went; profile.svg and profile.folded go into the run's folder",
    )
    _computed(add)
    _drawn(add)
    _common(add)

    add = verbs.add_parser("check", help="read, resolve and judge without running").add_argument
    add("scenario", nargs="+")
    add("-s", "--seed", type=_seed)
    add("--json", action="store_true")
    add("--ascii", action="store_true", help="write with ASCII only")
    _common(add)

    add = verbs.add_parser(
        "list", help="the library, a line each; or the presets of places with their sources"
    ).add_argument
    add("what", nargs="?", choices=("places",), help="default: the library")
    add("--json", action="store_true")

    add = verbs.add_parser(
        "show", help="a mechanism's card, a scenario's text, or a run in words"
    ).add_argument
    add("what", metavar="KIND|NAME|RUN")
    add("--json", action="store_true")
    add(
        "--ledger",
        choices=("csv", "dp-accounting", "jsonl"),
        help="a run's ledger as a table, as events that dp-accounting composes, or as lines of JSON",
    )
    add("--events", choices=("jsonl",), help="everything that happened in a run, a line each")
    add("--ascii", action="store_true", help="write with ASCII only")

    _writes(verbs)
    _looks(verbs)
    _sweeps(verbs)
    _replays(verbs)
    _imports(verbs)
    _compares(verbs)
    _lists_data(verbs)
    _reproduces(verbs)
    _designs(verbs)
    return parser


def _writes(verbs: Any) -> None:
    """Add the verbs that make a file."""
    add = verbs.add_parser("new", help="a commented scenario to start from").add_argument
    add("file")

    _pictures(verbs)


def _pictures(verbs: Any) -> None:
    """Add the verb that draws."""
    add = verbs.add_parser("plot", help="a picture of runs, sweeps or an audit").add_argument
    add(
        "words",
        nargs="*",
        metavar="RUN|SWEEP|AUDIT|WHAT",
        help="folders, and what to draw of them: pictures (--list) or sampled metrics; without any: four panels",
    )
    add(
        "--x",
        choices=("time", "rounds", "updates", "releases", "bytes", "epsilon"),
        default=None,
        help="what metrics are drawn against (default time); epsilon: each agent's own",
    )
    add("--at", metavar="T", help='the instant of a network or a timeline: seconds, or "250ms"')
    add(
        "--metric",
        metavar="NAME",
        help="what ends of runs are compared by (default: the test score)",
    )
    add(
        "--only",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only runs with this value; repeatable",
    )
    add("--style", choices=("screen", "paper", "slides"), default="screen")
    add(
        "--width",
        choices=("page", "column"),
        default="page",
        help="6.9 inches (default), or 3.3 for one column",
    )
    add("--format", choices=("png", "svg", "pdf"), default=None, help="default png")
    add(
        "-o",
        "--out",
        metavar="FILE",
        help="default: in the first folder, named after what is drawn; the caption stands beside it as .txt",
    )
    add("--list", action="store_true", help="the pictures, a line each")


def _looks(verbs: Any) -> None:
    """Add the verbs that look at many runs."""
    add = verbs.add_parser(
        "audit", help="an empirical lower bound on ε, beside what is claimed and charged"
    ).add_argument
    add("scenario")
    add("--runs", type=_runs, default=1000, metavar="N", help="runs per data set (default 1000)")
    add("--confidence", type=_confidence, default=0.95, metavar="P", help="default 0.95")
    add("-j", "--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    add("--view", help="whose eyes (default: the scenario's first)")
    add(
        "--neighbours",
        choices=("worst", "canary"),
        default="worst",
        help="the worst data known for the loss, or the scenario's own with one record replaced",
    )
    add("--node", type=_whole, help="whose record (default: of the agent with the fewest)")
    add("-s", "--seed", type=_seed)
    add("-o", "--out", metavar="DIR", help="default runs/NAME-audit-SEED-N")
    add("--json", action="store_true")
    _common(add)

    add = verbs.add_parser(
        "attack", help="what an attacker recovers, beside what was promised"
    ).add_argument
    add("which", choices=("kkt", "membership"))
    add("scenario")
    add("--node", type=_whole, help="whose records")
    add("--record", type=_whole, default=0, help="kkt: which record (default 0)")
    add("--records", type=_some, default=8, help="membership: how many (default 8)")
    add(
        "--runs", type=_runs, default=50, metavar="N", help="membership: runs each way (default 50)"
    )
    add("--confidence", type=_confidence, default=0.95, metavar="P")
    add("-s", "--seed", type=_seed)
    add("--json", action="store_true")
    _common(add)

    add = verbs.add_parser(
        "test", help="scenario files as tests; random worlds; the smallest failure"
    ).add_argument
    add(
        "path",
        nargs="*",
        metavar="PATH",
        help="files, folders of test_*.toml, names of the library, or library: for all of it",
    )
    add("--seeds", metavar="A..B", help='such as "0..99" (default: the file\'s own)')
    add("--swarm", type=_some, metavar="N", help="so many worlds with random faults")
    add("--shrink", action="store_true", help="write the smallest file that still fails")
    add(
        "--keep", action="store_true", help="with --swarm: keep the files of those that passed, too"
    )
    add("-j", "--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    add("-o", "--out", metavar="PATH", help="where shrunk files, or a swarm's, go")
    _computed(add)
    _common(add)

    add = verbs.add_parser("explain", help="the causes of one event of a run").add_argument
    add("run", metavar="RUN")
    add("seq", type=_whole, metavar="SEQ")
    add("--json", action="store_true")

    add = verbs.add_parser(
        "diff", help="the first event where two runs part, and what it did to them"
    ).add_argument
    add("run", metavar="RUN")
    add("other", metavar="RUN")
    add("--json", action="store_true")


def _sweeps(verbs: Any) -> None:
    """Add the verb that runs a grid."""
    add = verbs.add_parser(
        "sweep", help="many runs: every setting of a grid, every seed"
    ).add_argument
    add("scenario", nargs="+")
    add(
        "--grid",
        metavar="KEY=A,B,C",
        action="append",
        default=[],
        help="a dotted key and the values that it takes; repeatable",
    )
    add("--seeds", metavar="A..B", help='such as "0..9" (default: the file\'s [sweep])')
    add(
        "--zip",
        metavar="KEY,KEY",
        action="append",
        default=[],
        help="keys of the grid that vary together; repeatable",
    )
    add(
        "--metric",
        metavar="NAME",
        action="append",
        default=[],
        help="a column of the table, such as loss.p90; repeatable (default: the usual ones)",
    )
    add(
        "--curves", action="store_true", help="write every sample of the metrics to curves.csv, too"
    )
    add(
        "--choose", metavar="METRIC", help="mark the best values of the keys --over, by this metric"
    )
    add("--over", metavar="KEY", action="append", default=[], help="a key to choose; repeatable")
    add(
        "--better",
        choices=("higher", "lower"),
        help="which values of --choose are good, where its name does not say",
    )
    add("--race", metavar="METRIC", help="stop settings that cannot win any more by this metric")
    add(
        "--plot",
        metavar="WHAT",
        nargs="?",
        action="append",
        default=[],
        const="",
        help="draw this at the end, as hush plot does (without a word: the standard panels); repeatable",
    )
    add("--report", action="store_true", help="write report.html at the end, as hush report does")
    add("-j", "--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    add("--cluster", metavar="ADDRESS", help="run on the workers of this Dask scheduler")
    add("-o", "--out", metavar="DIR", help="default runs/NAME-sweep-N")
    add("-q", "--quiet", action="store_true", help="say nothing but errors")
    _computed(add)
    _common(add)


def _imports(verbs: Any) -> None:
    """Add the verb that reads what others measured."""
    words = verbs.add_parser("trace", help="import traces that others measured").add_subparsers(
        dest="what", metavar="WHAT", required=True
    )
    add = words.add_parser(
        "import", help="device availability, latency matrices or durations, with a report of flaws"
    ).add_argument
    add("file", metavar="FILE")
    add("-o", "--out", metavar="FILE", help="what to write (default: nothing, only the report)")
    add("--kind", choices=("auto", "availability", "matrix", "durations"), default="auto")
    add("--unit", choices=("s", "ms", "us"), default="s", help="of numbers in the file (default s)")
    add("--rtt", action="store_true", help="delays are round trips: half of each is one way")
    add(
        "--needs",
        metavar="A,B",
        default="idle,charging,wifi",
        type=_needs,
        help="what a device of the FLASH format must be (default idle,charging,wifi)",
    )
    add(
        "--from-start",
        action="store_true",
        help="count sessions from the first one; dates always do",
    )
    add(
        "--repair",
        metavar="HOW",
        action="append",
        default=[],
        help="what may be done to unusable values: drop, merge, unwrap, neighbour, symmetric; repeatable",
    )
    add("--json", action="store_true")


def _needs(text: str) -> str:
    known = ("idle", "charging", "wifi")
    if not text or any(word not in known for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"must be some of {','.join(known)}, got {text}")
    return text


def _replays(verbs: Any) -> None:
    """Add the verb that shows a recording."""
    add = verbs.add_parser(
        "replay", help="a finished run in the live console, or a picture of a moment of it"
    ).add_argument
    add("run", metavar="RUN")
    add("--at", metavar="T", help="stand at this instant (a picture: default the end)")
    add("--speed", metavar="X", help="simulated seconds per wall second, or max")
    add("--svg", metavar="FILE", help="write a picture instead of showing it")
    add("--size", metavar="COLUMNSxLINES", help="of a picture (default 100x30)")
    add(
        "--view",
        choices=("table", "grid", "crowd"),
        help="how agents are shown (default: by number)",
    )
    add("--node", type=_whole, help="open this agent")
    _drawn(add)


def _compares(verbs: Any) -> None:
    """Add the verbs that compare runs and sweeps, and report on one."""
    add = verbs.add_parser(
        "report", help="one page on a run or a sweep, to read without hush"
    ).add_argument
    add("place", metavar="RUN|SWEEP")
    add(
        "-o", "--out", metavar="FILE", help="default: report.html in the folder of the run or sweep"
    )

    add = verbs.add_parser(
        "compare", help="differences of runs and sweeps, with intervals, paired by seed"
    ).add_argument
    add("place", nargs="+", metavar="RUN|SWEEP", help="the first is compared with each other one")
    add("--by", metavar="AXIS", help="compare the values of one axis inside of one sweep")
    add(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="such as loss.mean; repeatable (default: all of a sweep, the headlines of runs)",
    )
    add("--confidence", type=_confidence, default=0.95, metavar="P", help="default 0.95")
    add("--json", action="store_true")


def _lists_data(verbs: Any) -> None:
    """Add the verb that looks for data sets."""
    add = verbs.add_parser(
        "data",
        help="the data sets that scenarios may name: which are here, and where to get the others",
    ).add_argument
    add("--json", action="store_true")
    _folders(add)


def _reproduces(verbs: Any) -> None:
    """Add the verbs about the literature."""
    add = verbs.add_parser(
        "reproduce", help="the papers' figures, tables and claims, judged by runs"
    ).add_argument
    add(
        "claim",
        nargs="*",
        metavar="PAPER|CLAIM",
        help="papers, claims, or beginnings of their names (default: all; --list has them)",
    )
    add(
        "--quick",
        action="store_true",
        help="claims that take minutes, with fewer seeds and settings",
    )
    add("--list", action="store_true", help="the claims with their verdicts, a line each")
    add("-j", "--jobs", type=_jobs, default=None, help="workers (default: one per core)")
    add(
        "-o",
        "--out",
        metavar="DIR",
        help="default runs/reproduction, with --quick runs/reproduction-quick; what was run there before is not run again",
    )
    add("-q", "--quiet", action="store_true", help="say nothing but errors")
    add("--json", action="store_true")
    _folders(add)


def _designs(verbs: Any) -> None:
    """Add the verbs about the design of a budget."""
    add = verbs.add_parser(
        "tradeoff",
        help="how the loss falls with ε in a sweep, and the best ε for a utility of privacy",
    ).add_argument
    add("sweep", metavar="SWEEP")
    add("--axis", metavar="KEY", help="the axis that is ε (default: the only one that is)")
    add("--metric", metavar="NAME", default="loss.mean", help="default loss.mean")
    add(
        "--only",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only runs with this value; repeatable",
    )
    add(
        "--omega",
        metavar="A,B,C,D",
        default="0.02,6,9,1",
        help="ω₁ to ω₄ of the utility ω₁ ln(ω₂/(ω₃α + ω₄α²)) (default 0.02,6,9,1)",
    )
    add("--low", type=_above_zero, metavar="A", help="the smallest α (default: that of the sweep)")
    add("--high", type=_above_zero, metavar="A", help="the largest α (default: that of the sweep)")
    add("--most-loss", type=_above_zero, metavar="L", help="the largest loss that is good enough")
    add("-o", "--out", metavar="FILE", help="draw points, curve and α*: .png, .svg or .pdf")
    add("--json", action="store_true")

    add = verbs.add_parser(
        "bounds",
        help="the papers' bounds for a scenario: convergence (cd), enough points (admm, dvp, pvp)",
    ).add_argument
    add("scenario")
    add(
        "--wakes",
        type=_some,
        nargs="+",
        default=[],
        metavar="N",
        help="cd: wakes of each agent (default 1 2 5 … 500)",
    )
    add("--norm", type=_above_zero, metavar="F", help="‖f⁰‖ of the reference model")
    add("--error", type=_above_zero, metavar="A", help="α_acc: how much worse is good enough")
    add(
        "--failure",
        type=_probability,
        default=0.05,
        metavar="D",
        help="how often the bound may fail (default 0.05)",
    )
    add("--alpha", type=_above_zero, metavar="A", help="ε of one release (default: the scenario's)")
    add("-s", "--seed", type=_seed)
    add("--json", action="store_true")
    _common(add)


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text}") from None
    if not 1e-9 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"must be a number from 1e-9 to 1e9, got {text}")
    return value


def _probability(text: str) -> float:
    value = _above_zero(text)
    if value >= 1:
        raise argparse.ArgumentTypeError(f"must be below 1, got {text}")
    return value


def _folders(add: Callable[..., Any]) -> None:
    add(
        "--data",
        metavar="DIR",
        action="append",
        default=[],
        help="files may be read from here too; repeatable",
    )


def _computed(add: Callable[..., Any]) -> None:
    add(
        "--path",
        dest="by_path",
        choices=PATHS,
        default=AUTO,
        help="how wakes are computed (default auto); fast needs numba",
    )


def _drawn(add: Callable[..., Any]) -> None:
    add("--ascii", action="store_true", help="draw with ASCII only")
    add("--color", choices=("auto", "always", "never"), default="auto", help="beats NO_COLOR")


def _common(add: Callable[..., Any]) -> None:
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a dotted key; repeatable",
    )
    _folders(add)
    add("--allow-code", action="store_true", help="let the scenario name code of its own")
    add("--allow-large", action="store_true", help="lift the caps on size")


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
