"""The verb `sweep`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, flag, option, word
from scenarios.command.verb_groups import MANY

KIND = Verb(
    name="sweep",
    group=MANY,
    rank=1,
    help="many runs: every setting of a grid, every seed",
    arguments=(
        word("scenario", Takes.SCENARIO, "names of the library, or files", nargs="+"),
        option(
            "--grid",
            takes=Takes.KEY,
            metavar="KEY=A,B,C",
            action="append",
            default=[],
            help="a dotted key and the values that it takes; repeatable",
        ),
        option(
            "--seeds",
            takes=Takes.VALUE,
            metavar="A..B",
            help='such as "0..9" (default: the file\'s [sweep])',
        ),
        option(
            "--zip",
            takes=Takes.VALUE,
            metavar="KEY,KEY",
            action="append",
            default=[],
            help="keys of the grid that vary together; repeatable",
        ),
        option(
            "--metric",
            takes=Takes.METRIC,
            metavar="NAME",
            action="append",
            default=[],
            help="a column of the table, such as loss.p90; repeatable (default: the usual ones)",
        ),
        flag("--curves", help="write every sample of the metrics to curves.csv, too"),
        option(
            "--choose",
            takes=Takes.METRIC,
            metavar="METRIC",
            help="mark the best values of the keys --over, by this metric",
        ),
        option(
            "--over",
            takes=Takes.VALUE,
            metavar="KEY",
            action="append",
            default=[],
            help="a key to choose; repeatable",
        ),
        choice(
            "--better",
            of=("higher", "lower"),
            help="which values of --choose are good, where its name does not say",
        ),
        option(
            "--race",
            takes=Takes.METRIC,
            metavar="METRIC",
            help="stop settings that cannot win any more by this metric",
        ),
        option(
            "--plot",
            takes=Takes.PICTURE | Takes.METRIC,
            metavar="WHAT",
            nargs="?",
            action="append",
            default=[],
            const="",
            help="draw this at the end, as hush plot does (without a word: the standard panels); repeatable",
        ),
        flag("--report", help="write report.html at the end, as hush report does"),
        shared.jobs(),
        option(
            "--cluster",
            takes=Takes.VALUE,
            metavar="ADDRESS",
            help="run on the workers of this Dask scheduler",
        ),
        shared.out("default runs/NAME-sweep-N"),
        shared.quiet(),
        shared.PATH,
        *shared.COMMON,
    ),
    examples=(
        Example(
            "hush sweep quickstart --grid network.loss=0,0.1,0.3 --seeds 0..9",
            "three settings under ten seeds",
        ),
        Example("hush sweep ./world.toml -j 4 -o runs/losses", "the [sweep] of a file; goes on"),
        Example(
            "hush sweep a.toml b.toml --seeds 0..4 --report", "two files, and one page on them"
        ),
    ),
    exits={
        1: "an expectation failed in a run, or every agent of one diverged",
        2: "usage, or a scenario that cannot run",
        3: "an invariant broke in a run",
        4: "a verdict is unknown",
    },
    performed_by="scenarios.command.sweep",
)
