"""What a claim is: one frozen record. Its verdict is computed from runs, never written down.

A record is one reading of a published sentence: records of one paper with one `statement` read the same sentence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, Literal, get_args

from scenarios.language.writer import inline
from scenarios.planning.kinds import Family
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.figure import Figure
from scenarios.reproduction.judgement import Judgement
from scenarios.reproduction.papers import PAPERS

Cause = Literal["the paper's text", "the printed noise", "an unstated setting"]
"""Why a claim does not hold."""
Standing = Literal["registered", "set after looking"]
"""Whether rule, bounds, settings and seeds of a claim were committed before its result."""
EXPLORED = "settings, after exploratory runs"
"""What was set after a look where no more is known. So it is for all claims of the first set: rules and results were committed
within 21 minutes, and the set takes two hours of a worker, so that the history does not show which came first."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A sweep of the library that claims are judged by; its file says settings, seeds and metrics.

    `quick_grid` and `quick_seeds` cut it down to what takes seconds; without seeds no quick run takes it. `seeds`,
    `metrics`, `sets` and `grid` come before what the scenario says; `label` tells such a sweep from that of the file.
    """

    scenario: str
    quick_seeds: str = ""
    quick_grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    quick_zip: tuple[tuple[str, ...], ...] | None = None
    seeds: str | None = None
    metrics: tuple[str, ...] = ()
    label: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.label) != bool(self.sets or self.grid):
            raise ValueError(
                f"{self.scenario}: a label belongs to settings that are not those of the file"
            )

    @property
    def name(self) -> str:
        """What evidence is asked for."""
        return f"{self.scenario}/{self.label}" if self.label else self.scenario

    @property
    def command(self) -> str:
        """The words that run it alone."""
        options = [
            *(f"--set {quote(f'{key}={inline(value)}')}" for key, value in self.sets.items()),
            *(
                f"--grid {quote(f'{key}=' + ','.join(map(inline, values)))}"
                for key, values in self.grid.items()
            ),
            *([f"--seeds {self.seeds}"] if self.seeds else []),
            *(f"--metric {metric}" for metric in self.metrics),
        ]
        return " ".join([f"hush sweep {self.scenario}", *options])


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting that the paper leaves unstated: what hush takes, and what changes when it changes."""

    setting: str
    taken: str
    changes: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a claim does not hold, and the run that tells this cause from the others."""

    cause: Cause
    words: str
    told_apart_by: str

    def __post_init__(self) -> None:
        if self.cause not in get_args(Cause):
            raise ValueError(f"a cause is one of {get_args(Cause)}, got {self.cause!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One reading of a published sentence that a number can decide.

    `statement` is the sentence, and `reading` how it is read; empty: as it stands. `value` is what the paper states, as it
    states it; `rule` says in words what `judge` asks for. `looked` says what was set after a look at results; None: the claim
    is registered (`scenarios.reproduction.registration`). Without an experiment the claim is a calculation. `reason` belongs
    to a claim that does not hold, `decides` to one that is undecided: what would decide it.
    """

    name: str
    paper: str
    place: str
    statement: str
    reading: str
    value: str
    rule: str
    looked: str | None
    judge: Callable[[Evidence], Judgement]
    experiments: tuple[Experiment, ...] = ()
    choices: tuple[Choice, ...] = ()
    reason: Reason | None = None
    decides: str = "more seeds"
    figure: Callable[[Evidence], Figure] | None = None

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"{self.name}: no paper {self.paper!r}")
        asked = ("place", "statement", "value", "rule", "decides")
        empty = [n for n in asked if not getattr(self, n)]
        empty += ["looked"] if self.looked == "" else []
        if empty:
            raise ValueError(f"{self.name}: {', '.join(empty)} must be given")

    @property
    def as_read(self) -> str:
        """The sentence with how it is read."""
        return f"{self.statement} ({self.reading})" if self.reading else self.statement

    @property
    def standing(self) -> Standing:
        """Whether its rule came before its result."""
        return "registered" if self.looked is None else "set after looking"

    @property
    def is_quick(self) -> bool:
        """Whether a quick run judges it."""
        return all(experiment.quick_seeds for experiment in self.experiments)


CLAIMS: Family[Claim] = Family("scenarios.reproduction.claims", Claim, several=True)
"""Every claim by its name."""


def in_order() -> list[Claim]:
    """Return all claims: paper by paper, in the order of their files and of places within them."""
    papers = list(PAPERS)
    return sorted(CLAIMS.values(), key=lambda claim: papers.index(claim.paper))
