"""The tour: eight captions on the quickstart. Each is made of the run's own figures, and claims what they show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from scenarios.console.drawing.styled_text import HERE
from scenarios.console.sources.source import Source

SCENARIO = "quickstart"
_SCORE = "accuracy.test"
_PHONE = 42
"""The agent that crashes in the quickstart."""
_ROUNDED = 1e-7
"""Live ledgers and recordings compose in another order: their ε agree to so small a part."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a caption may say of a run at an instant."""

    t_s: float
    score: float
    """The mean test accuracy at the last sample before the instant; an oracle's."""
    scores: Mapping[float, float]
    """The same at every sample so far, by its instant (s)."""
    alone: float
    central: float
    epsilon_mean: float
    epsilon_max: float
    cap: float
    terms: str
    """View, δ and accountant of ε."""
    lost: int
    states: Mapping[str, int]
    """How many agents are in each state."""
    phone_state: str
    phone_epsilon: float
    releases: int

    @property
    def here(self) -> int:
        """How many agents are up."""
        return sum(count for state, count in self.states.items() if state in HERE)


def figures_of(source: Source) -> Figures:
    """Return the figures of a run as it stands."""
    source.refresh()
    state, facts = source.run_state, source.facts
    points = state.histories.series(_SCORE)
    states = [state.state(i) for i in range(facts.size)]
    epsilons, references = source.epsilons(), source.references()
    return Figures(
        t_s=source.now / 1e9,
        score=points[-1].mean if points else 0.0,
        scores={point.t_s: point.mean for point in points},
        alone=references.alone.get(_SCORE, float("nan")),
        central=references.central.get(_SCORE, float("nan")),
        epsilon_mean=float(np.mean(epsilons)),
        epsilon_max=float(np.max(epsilons)),
        cap=facts.cap_of(0) or float("nan"),
        terms=source.terms(),
        lost=source.messages().lost,
        states={name: states.count(name) for name in dict.fromkeys(states)},
        phone_state=states[_PHONE],
        phone_epsilon=source.epsilon(_PHONE),
        releases=source.messages().releases,
    )


@dataclass(frozen=True, slots=True)
class Caption:
    """What is said at an instant (s), whether it is true, and at which scale the agents are shown."""

    at_s: float
    says: Callable[[Figures], str]
    holds: Callable[[Figures], bool]
    scale: str = "grid"
    points: tuple[str, ...] = ()
    """The parts of it that point to the screen, or to keys: lines leave them out."""

    def in_lines(self, figures: Figures) -> str:
        """Return what is said where there is no screen."""
        text = self.says(figures)
        for part in self.points:
            text = text.replace(part, "")
        return text


CAPTIONS = (
    Caption(
        0.0,
        lambda f: (
            f"{f.here} agents, each with data of its own, are about to learn together. Nothing is released: "
            f"no ε is spent, and their models are right in {100 * f.score:.0f} of 100 cases, as a coin is."
        ),
        lambda f: f.here == 100 and f.releases == 0 and f.epsilon_max == 0 and 0.4 < f.score < 0.6,
    ),
    Caption(
        4.0,
        lambda f: (
            f"Accuracy climbs (chart), and budgets burn (the line of steps below it): on average ε = {f.epsilon_mean:.2f} "
            f"of {f.cap:g} is spent ({f.terms}). The accuracy is an oracle's: it is not released."
        ),
        lambda f: 0 < f.epsilon_mean < f.cap and f.score > f.scores[0.0] + 0.1,
        points=(" (chart)", " (the line of steps below it)"),
    ),
    Caption(
        9.0,
        lambda f: (
            f"At 8 s the laptops were cut off: the dotted edges. {f.lost:,} messages are lost so far. Each release that "
            "one of them carried is paid for all the same: a ledger charges before anything is sent."
        ),
        lambda f: f.lost > 500,
        "network",
        points=(": the dotted edges",),
    ),
    Caption(
        17.0,
        lambda f: (
            f"{f.states.get('done', 0)} agents are done: they have made all releases of their plan. They learn on from "
            "what others released, which costs no further ε."
        ),
        lambda f: f.states.get("done", 0) >= 20,
    ),
    Caption(
        22.0,
        lambda f: (
            f"The network was whole again at 18 s. The mean accuracy rose from {f.scores[17.0]:.3f} at 17 s to "
            f"{f.score:.3f}. Press g for the network, Enter for the agent at the cursor, m for another metric."
        ),
        lambda f: f.score > f.scores[17.0],
        "network",
        points=(
            " Press g for the network, Enter for the agent at the cursor, m for another metric.",
        ),
    ),
    Caption(
        26.0,
        lambda f: (
            f"Agent {_PHONE} crashed at 24 s. Its model is lost. Its ledger is not: its ε stays at {f.phone_epsilon:.2f}, "
            "and no release is paid twice, or forgotten, when it comes back at 30 s."
        ),
        lambda f: f.phone_state == "down" and f.phone_epsilon > 0,
    ),
    Caption(
        32.0,
        lambda f: (
            f"The mean has passed “alone” (dashed): together the agents reach {f.score:.3f}, each alone would have {f.alone:.3f}, "
            f"and the exact optimum on all data, without noise, {f.central:.3f}."
        ),
        lambda f: f.alone < f.score < f.central,
        points=(" (dashed)",),
    ),
    Caption(
        40.0,
        lambda f: (
            f"Over: {f.score - f.alone:+.3f} accuracy over learning alone, and no agent passed its cap "
            f"(ε at most {f.epsilon_max:.2f} of {f.cap:g}). q leaves; hush run gives you the same world to break."
        ),
        lambda f: f.score > f.alone and f.epsilon_max <= f.cap * (1 + _ROUNDED),
        points=(" q leaves; hush run gives you the same world to break.",),
    ),
)


class Tour:
    """Goes from caption to caption: plays up to the next one, and holds there until the person goes on."""

    def __init__(self, source: Source, play_to: Callable[[int], None]) -> None:
        """Tour a run; `play_to` lets it go on to an instant (ns) at its pace, and holds it there."""
        self._source = source
        self._play_to = play_to
        self.at = -1
        """The number of the caption that is shown, or was last; −1 before the first."""
        self._words = ""

    @property
    def is_due(self) -> bool:
        """Whether the run has come to the next caption."""
        following = self.at + 1
        if following >= len(CAPTIONS):
            return False
        reached = self._source.now >= round(CAPTIONS[following].at_s * 1e9)
        return reached and self._source.run_state.last is not None

    def look(self) -> Caption | None:
        """Take the next caption where the run has come to it; return it, or None where nothing changed."""
        if not self.is_due:
            return None
        self.at += 1
        self._words = CAPTIONS[self.at].says(figures_of(self._source))
        return CAPTIONS[self.at]

    def go_on(self) -> bool:
        """Play to the next caption; return False behind the last."""
        if self.at + 1 >= len(CAPTIONS):
            return False
        self._play_to(round(CAPTIONS[self.at + 1].at_s * 1e9))
        return True

    @property
    def words(self) -> str:
        """What is shown now, with how to go on; empty before the first caption."""
        if self.at < 0:
            return ""
        last = self.at + 1 == len(CAPTIONS)
        way = "q leaves" if last else "space goes on"
        return f"{self.at + 1}/{len(CAPTIONS)}  {self._words}  ({way})"
