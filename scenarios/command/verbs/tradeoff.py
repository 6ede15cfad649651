"""The verb `tradeoff`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, option, word
from scenarios.command.verb_groups import MANY

KIND = Verb(
    name="tradeoff",
    group=MANY,
    rank=4,
    help="how loss falls with ε in a sweep, and the best ε for a utility",
    arguments=(
        word("sweep", Takes.SWEEP, "the folder of a sweep", metavar="SWEEP"),
        option(
            "--axis",
            takes=Takes.VALUE,
            metavar="KEY",
            help="the axis that is ε (default: the only one that is)",
        ),
        option(
            "--metric",
            takes=Takes.METRIC,
            metavar="NAME",
            default="loss.mean",
            help="default loss.mean",
        ),
        shared.only(),
        option(
            "--omega",
            takes=Takes.VALUE,
            metavar="A,B,C,D",
            default="0.02,6,9,1",
            help="ω₁ to ω₄ of the utility ω₁ ln(ω₂/(ω₃α + ω₄α²)) (default 0.02,6,9,1)",
        ),
        option(
            "--low",
            takes=Takes.VALUE,
            type=shared.above_zero,
            metavar="A",
            help="the smallest α (default: that of the sweep)",
        ),
        option(
            "--high",
            takes=Takes.VALUE,
            type=shared.above_zero,
            metavar="A",
            help="the largest α (default: that of the sweep)",
        ),
        option(
            "--most-loss",
            takes=Takes.VALUE,
            type=shared.above_zero,
            metavar="L",
            help="the largest loss that is good enough",
        ),
        shared.out("draw points, curve and α*: .png, .svg or .pdf", Takes.FILE),
        shared.JSON,
    ),
    examples=(
        Example("hush tradeoff latest", "the newest sweep, whose only axis of ε is found"),
        Example("hush tradeoff dvp-sweep-1 --most-loss 0.4 -o alpha.png", "and a picture of it"),
    ),
    exits={},
    performed_by="scenarios.command.tradeoff",
)
