"""The verb `plot`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, flag, option, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="plot",
    group=UNDERSTAND,
    rank=2,
    help="a picture of runs, sweeps or an audit",
    arguments=(
        word(
            "words",
            Takes.RUN | Takes.SWEEP | Takes.AUDIT | Takes.PICTURE | Takes.METRIC,
            "folders, and what to draw of them: pictures (--list) or sampled metrics; without any: four panels",
            nargs="*",
            metavar="RUN|SWEEP|AUDIT|WHAT",
        ),
        choice(
            "--x",
            of=("time", "rounds", "updates", "releases", "bytes", "epsilon"),
            default=None,
            help="what metrics are drawn against (default time); epsilon: each agent's own",
        ),
        option(
            "--at",
            takes=Takes.VALUE,
            metavar="T",
            help='the instant of a network or a timeline: seconds, or "250ms"',
        ),
        option(
            "--metric",
            takes=Takes.METRIC,
            metavar="NAME",
            help="what ends of runs are compared by (default: the test score)",
        ),
        shared.only(),
        choice(
            "--style",
            of=("screen", "paper", "slides"),
            default="screen",
            help="sizes and colours (default screen)",
        ),
        choice(
            "--width",
            of=("page", "column"),
            default="page",
            help="6.9 inches (default), or 3.3 for one column",
        ),
        choice("--format", of=("png", "svg", "pdf"), default=None, help="default png"),
        shared.out(
            "default: in the first folder, named after what is drawn; the caption stands beside it as .txt",
            Takes.FILE,
        ),
        flag("--list", help="the pictures, a line each"),
    ),
    examples=(
        Example("hush plot latest", "four panels of the newest run"),
        Example("hush plot latest loss --x epsilon", "one metric against each agent's own ε"),
        Example("hush plot --list", "every picture that there is"),
    ),
    exits={},
    performed_by="scenarios.command.plot",
)
