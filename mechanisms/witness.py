"""Watches the steps of one agent, and measures how well two data sets explain the vectors that it sends."""

import numpy as np

from mechanisms.abilities import Explains
from mechanisms.mixing import Heard
from mechanisms.strategy import DERIVED, RELEASE, Mechanism, State, Step
from mechanisms.vectors import Vector

_SMALL, _NEAR = 0.25, 0.06
REPEATS, REACH = "noise that repeats", "doubles within reach"
UNROUNDED = (REACH,)
"""Hints that only what was not rounded can give."""


class _Hypothesis:
    """What one data set would have made of the same history."""

    def __init__(self, mechanism: Mechanism) -> None:
        if not isinstance(mechanism, Explains):
            raise TypeError(f"{type(mechanism).__name__} does not explain its releases")
        self.mechanism: Mechanism = mechanism
        self._explains: Explains = mechanism
        self.state: State = None
        self.noises: list[Vector] = []
        self.exact = True

    def explain(self, heard: Heard, made: int, sent: Vector, after: State) -> float:
        explained = self._explains.explain(self.state, heard, made, sent, after)
        self.state = explained.after
        self.noises.append(explained.noise)
        self.exact &= explained.exact
        return float(explained.log_density)


class Onlooker:
    """Keeps the vectors that an agent sends, derived ones too; the mechanism is a black box to it."""

    def __init__(self) -> None:
        self.sent: list[Vector] = []

    def watch(self, step: Step, state: State, heard: Heard, made: int) -> Step:  # noqa: ARG002
        """Return a step that does the same, and keeps what it sends."""

        def finish(rng: np.random.Generator | None) -> tuple[State, Vector | None]:
            after, sent = step.finish(rng)
            if sent is not None:
                self.sent.append(np.array(sent, dtype=np.float64))
            return after, sent

        return Step(step.kind, step.spend, finish)


class Witness:
    """Keeps the privacy loss of each release of an agent: ln p(sent | D) − ln p(sent | D′).

    Its history is what was sent and heard, which an adversary may know; the two hypotheses differ in one record.
    """

    def __init__(self, mechanism: Mechanism, one: Mechanism, other: Mechanism) -> None:
        """Watch an agent with a mechanism; `one` and `other` are mechanisms on D and on D′ that explain releases."""
        self._mechanism = mechanism
        self._both = _Hypothesis(one), _Hypothesis(other)
        self._last: State = None
        self.losses: list[float] = []

    @property
    def exact(self) -> bool:
        """Whether the losses are privacy losses, not an approximation of them."""
        return all(hypothesis.exact for hypothesis in self._both)

    def watch(self, step: Step, state: State, heard: Heard, made: int) -> Step:
        """Return a step that does the same, and keeps the loss of a release; `made` is −1 for a step without data."""

        def finish(rng: np.random.Generator | None) -> tuple[State, Vector | None]:
            self._follow(state)
            kept = heard.frozen()
            after, sent = step.finish(rng)
            self._last = after
            if step.kind == RELEASE:
                vector = (
                    np.zeros(0) if sent is None else sent
                )  # an agent that learns alone sends nothing
                one, other = (h.explain(kept, made, vector, after) for h in self._both)
                self.losses.append(one - other)
            elif step.kind == DERIVED:
                for hypothesis in self._both:
                    hypothesis.state = self._derived(hypothesis, kept, made)
            return after, sent

        return Step(step.kind, step.spend, finish)

    def _follow(self, state: State) -> None:
        """Begin both hypotheses anew where the agent's state is not the one that it left."""
        if state is self._last:
            return
        for hypothesis in self._both:
            hypothesis.state = hypothesis.mechanism.begin(self._mechanism.model(state))

    def _derived(self, hypothesis: _Hypothesis, heard: Heard, made: int) -> State:
        """Take a step that touches no data."""
        mechanism = hypothesis.mechanism
        if made < 0:
            step = mechanism.without_data(hypothesis.state, heard)
        else:
            step = mechanism.propose(hypothesis.state, heard, made)
        return hypothesis.state if step.kind == RELEASE else step.finish(None)[0]

    @property
    def hints(self) -> dict[str, float]:
        """What else tells D from D′, where noise is not what it should be.

        Noise that is used twice cancels: the noise that the truth implies then repeats itself. And a sampler of doubles
        reaches few of them: what was not rounded shows which data lie within its reach (Mironov 2012; theory.md, E21).
        """
        near, far = (_closest(hypothesis.noises) for hypothesis in self._both)
        one, other = (_reached(hypothesis.noises) for hypothesis in self._both)
        return {
            REPEATS: float(np.log(far) - np.log(near)),
            REACH: float(one - other),
        }


def _reached(noises: list[Vector]) -> int:
    """Count the small coordinates that lie where Laplace noise is made from uniforms of 53 bits."""
    small = np.abs(np.concatenate([*noises, np.zeros(0)]))
    steps = -np.expm1(-small[small < _SMALL]) * 2.0**52
    return int((np.abs(steps - np.rint(steps)) < _NEAR).sum())


def _closest(noises: list[Vector]) -> float:
    """The least distance between two draws."""
    rows = [noise for noise in noises if noise.size]
    if len(rows) < 2:
        return 1.0
    table = np.array(rows)
    squares = (table * table).sum(axis=1)
    apart = squares[:, None] + squares - 2.0 * table @ table.T
    np.fill_diagonal(apart, np.inf)
    return float(np.sqrt(max(apart.min(), 0.0))) + 1e-9
