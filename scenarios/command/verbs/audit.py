"""The verb `audit`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, option, word
from scenarios.command.verb_groups import PRIVACY

KIND = Verb(
    name="audit",
    group=PRIVACY,
    rank=1,
    help="a lower bound on ε by experiment, beside what is claimed",
    arguments=(
        word("scenario", Takes.SCENARIO, "a name of the library, or a file"),
        option(
            "--runs",
            takes=Takes.VALUE,
            type=shared.number_of_runs,
            default=None,
            metavar="N",
            help="runs per data set (default: as many as 95 % power to refute losses of twice the claim takes, 20 to "
            "10,000; 1,000 where no number would do or the power is unknown)",
        ),
        shared.confidence(),
        shared.jobs(),
        option(
            "--view",
            takes=Takes.VALUE,
            metavar="NAME",
            help="whose eyes (default: the scenario's first)",
        ),
        choice(
            "--neighbours",
            of=("worst", "canary"),
            default="worst",
            help="the worst data known for the loss, or the scenario's own with one record replaced",
        ),
        option(
            "--node",
            takes=Takes.VALUE,
            type=shared.whole,
            metavar="N",
            help="whose record (default: of the agent with the fewest)",
        ),
        shared.seed(),
        shared.out("default runs/NAME-audit-SEED-N"),
        shared.JSON,
        *shared.COMMON,
    ),
    examples=(
        Example(
            "hush audit private-consensus", "does the claimed ε survive? says how many runs first"
        ),
        Example(
            "hush audit errata/e01-dvp-zeta-as-printed -j 2", "a printed claim that is refuted"
        ),
    ),
    exits={
        1: "the claim is refuted",
        2: "usage, or a scenario that cannot be audited",
        3: "the bound is above what the ledger charged",
    },
    performed_by="scenarios.command.audit",
)
