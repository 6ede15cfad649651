"""What a claim is: one frozen record. Its verdict is computed from runs, never written down."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from scenarios.planning.kinds import Family
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.figure import Figure
from scenarios.reproduction.judgement import Judgement
from scenarios.reproduction.papers import PAPERS

Cause = Literal["the paper's text", "the printed noise", "an unstated setting"]
"""Why a claim does not hold."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A sweep of the library that claims are judged by; its file says settings, seeds and metrics.

    `quick_grid` and `quick_seeds` cut it down to what takes seconds; without seeds no quick run takes it. `seeds` and
    `metrics` are those of a scenario without a [sweep] of its own.
    """

    scenario: str
    quick_seeds: str = ""
    quick_grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    quick_zip: tuple[tuple[str, ...], ...] | None = None
    seeds: str | None = None
    metrics: tuple[str, ...] = ()


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
    """One claim of a paper that a number can decide.

    `value` is what the paper states, as it states it; `rule` says in words what `judge` asks for. Without an experiment
    the claim is a calculation. `reason` belongs to a claim that does not hold, `decides` to one that is undecided: what
    would decide it.
    """

    name: str
    paper: str
    place: str
    statement: str
    value: str
    rule: str
    judge: Callable[[Evidence], Judgement]
    experiments: tuple[Experiment, ...] = ()
    choices: tuple[Choice, ...] = ()
    reason: Reason | None = None
    decides: str = ""
    figure: Callable[[Evidence], Figure] | None = None

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"{self.name}: no paper {self.paper!r}")
        empty = [n for n in ("place", "statement", "value", "rule") if not getattr(self, n)]
        if empty:
            raise ValueError(f"{self.name}: {', '.join(empty)} must be given")

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
