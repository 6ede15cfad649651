"""Local differential privacy: perturb each record once, then learn from that for ever (theory.md, A14)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mechanisms.abilities import AnswersServer, HasOpening, KeepsDuals, LeavesResidual, Trades
from mechanisms.accounting.spend import Spend
from mechanisms.columns import FrontStep, InRows, Places, TakesOthers, in_rows
from mechanisms.mixing import Heard
from mechanisms.noise import note
from mechanisms.strategy import DERIVED, RELEASE, Explained, Mechanism, State, Step, silent
from mechanisms.vectors import Matrix, Vector


class Disguised(NamedTuple):
    """The inner mechanism on perturbed data, once they are made; its state; how often it would have released."""

    mechanism: Mechanism | None
    inner: State
    made: int = 0
    records: tuple[Matrix, Vector] | None = None


@dataclass(frozen=True, slots=True)
class LocalPrivacy:
    """Features + NG(ε_x/2), labels flipped with probability 1/(1+e^ε_y); one charge of ε_x + ε_y.

    `template` is the inner mechanism on no records: it has the state of the agent until the perturbed records are made.
    An inner kind with abilities of its own has a subclass that passes them on; `disguise` chooses.
    """

    features: Matrix
    labels: Vector
    epsilon_features: float
    epsilon_label: float
    spend: Spend
    make: Callable[[Matrix, Vector], Mechanism]
    template: Mechanism
    planned = 1

    @property
    def derives(self) -> bool:
        """Whether it sends what the inner mechanism makes of the perturbed records: one without releases sends nothing."""
        return self.template.planned != 0

    def begin(self, start: Vector) -> Disguised:
        return Disguised(None, self.template.begin(start))

    def recover(self, state: Disguised, start: Vector) -> Disguised:
        """Begin again after a crash that took the memory: the perturbed records are stored, and paid for."""
        if state.mechanism is None:
            return self.begin(start)
        return Disguised(state.mechanism, state.mechanism.begin(start), state.made, state.records)

    def model(self, state: Disguised) -> Vector:
        return (state.mechanism or self.template).model(state.inner)

    def residual(self, state: Disguised) -> float:
        """Return the residual of the inner solver; 0 where it has none, or has solved nothing yet."""
        if isinstance(state.mechanism, LeavesResidual):
            return state.mechanism.residual(state.inner)
        return 0.0

    def schedule(self, degree: int) -> tuple[Spend, ...]:  # noqa: ARG002
        """The one charge of the perturbed records."""
        return (self.spend,)

    def propose(self, state: Disguised, heard: Heard, made: int) -> Step:
        if state.mechanism is None:
            if made:  # lost in a crash, or refused: it may not be made again
                return silent(state)
            return self._disguise(state, heard)
        return self._derived(state.mechanism, state, heard)

    def without_data(self, state: Disguised, heard: Heard) -> Step:  # noqa: ARG002
        return silent(state)

    def _disguise(self, state: Disguised, heard: Heard) -> Step:
        if heard.values.size and not heard.degree:
            return silent(state)  # no agent could receive it: not yet

        def finish(rng: np.random.Generator | None) -> tuple[Disguised, Vector | None]:
            assert rng is not None, "a private release has noise"  # noqa: S101
            records = self.perturbed(rng)
            mechanism = self.make(*records)
            fresh = mechanism.begin(self.template.model(state.inner))
            inner, vector = mechanism.propose(fresh, heard, 0).finish(rng)
            return Disguised(mechanism, inner, 1, records), vector

        return Step(RELEASE, self.spend, finish)

    def _derived(self, mechanism: Mechanism, state: Disguised, heard: Heard) -> Step:
        step = mechanism.propose(state.inner, heard, state.made)
        fresh = step.kind == RELEASE

        def finish(rng: np.random.Generator | None) -> tuple[Disguised, Any]:
            inner, vector = step.finish(rng)
            return state._replace(inner=inner, made=state.made + fresh), vector

        return Step(DERIVED if fresh else step.kind, None, finish)

    @classmethod
    def in_rows(cls, mechanisms: Sequence["LocalPrivacy"]) -> "LocalPrivacyInRows | None":
        """Return all agents as rows, behind their releases; None where what they learn by has no such steps."""
        inner = in_rows([kind.template for kind in mechanisms])
        endless = all(kind.template.planned is None for kind in mechanisms)
        if inner is None or not endless or not isinstance(inner, TakesOthers):
            return None
        return LocalPrivacyInRows(mechanisms, inner)

    def explain(
        self,
        before: Disguised,  # noqa: ARG002
        heard: Heard,  # noqa: ARG002
        made: int,  # noqa: ARG002
        sent: Vector,  # noqa: ARG002
        after: Disguised,
    ) -> Explained:
        """Compare the perturbed records, which every later step may read, with these."""
        assert after.records is not None, "they were made"  # noqa: S101
        features, labels = after.records
        noise = features - self.features
        lengths = 0.5 * self.epsilon_features * np.linalg.norm(noise, axis=1)
        kept = float((labels == self.labels).sum()) * self.epsilon_label
        return Explained(kept - float(lengths.sum()), noise.ravel(), after)

    def perturbed(self, rng: np.random.Generator) -> tuple[Matrix, Vector]:
        """Draw the perturbed records: every one of them costs ε_x + ε_y."""
        m, d = self.features.shape
        note(rng, 0.5 * self.epsilon_features)
        noise = rng.standard_normal((m, d))
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        noise *= rng.standard_gamma(d, size=(m, 1)) * (2.0 / self.epsilon_features)
        flip = rng.random(m) < 1.0 / (1.0 + np.exp(self.epsilon_label))
        return self.features + noise, np.where(flip, -self.labels, self.labels)


class LocalPrivacyInRows:
    """Many agents behind their one release: each learns on its perturbed records, at every wake, without noise."""

    law = None

    def __init__(self, kinds: Sequence[LocalPrivacy], inner: InRows) -> None:
        assert isinstance(inner, TakesOthers), "chosen for it"  # noqa: S101
        self.spends = [(kind.spend,) for kind in kinds]
        self._inner, self._replace = inner, inner.replace
        self._states: list[Disguised | None] = [None] * len(kinds)
        self._made = np.zeros(len(kinds), np.int64)

    def enter(self, member: int, state: Disguised) -> Vector | None:
        if state.mechanism is None:
            return None
        known = self._states[member]
        if known is None or known.mechanism is not state.mechanism:
            self._replace(member, state.mechanism)
        self._states[member], self._made[member] = state, state.made
        return self._inner.enter(member, state.inner)

    def state(self, member: int, theta: Vector) -> Disguised:
        state = self._states[member]
        assert state is not None, "it entered"  # noqa: S101
        inner = self._inner.state(member, theta)
        return state._replace(inner=inner, made=int(self._made[member]))

    def rest(self, members: Places, wakes: Places, *, silent: bool) -> None:
        if not silent:  # the inner mechanism made a release at each
            self._made[members] += wakes

    def prepared(self, members: Places, pauses: Places) -> "LocalPrivacyStep":
        return LocalPrivacyStep(self._inner.prepared(members, pauses))


class LocalPrivacyStep(NamedTuple):
    """The step of some members: a release of the inner mechanism is none of the agent."""

    inner: FrontStep

    def release(self, rows: slice, theta: Matrix, mixed: Matrix, noise: Matrix | None) -> Matrix:
        raise NotImplementedError("an agent that made its release makes no other one")

    def smooth(self, rows: slice, theta: Matrix, mixed: Matrix) -> Matrix:
        return self.inner.release(rows, theta, mixed, None)


@dataclass(frozen=True, slots=True)
class LocalPrivacyOnEdges(LocalPrivacy):
    """Local privacy before a kind with duals."""

    def opening(self, start: Vector) -> Vector:
        assert isinstance(self.template, HasOpening), "kinds with duals have openings"  # noqa: S101
        return self.template.opening(start)

    def duals(self, heard: Heard) -> Matrix:
        assert isinstance(self.template, KeepsDuals), "chosen for it"  # noqa: S101
        return self.template.duals(heard)


@dataclass(frozen=True, slots=True)
class LocalPrivacyOfClient(LocalPrivacy):
    """Local privacy before a client of a server."""

    @property
    def _client(self) -> AnswersServer:
        assert isinstance(self.template, AnswersServer), "chosen for it"  # noqa: S101
        return self.template

    @property
    def once(self) -> bool:
        return self._client.once

    def hold(self, state: Disguised, theta: Vector) -> Disguised:
        return state._replace(inner=self._client.hold(state.inner, theta))


@dataclass(frozen=True, slots=True)
class LocalPrivacyOfPairs(LocalPrivacy):
    """Local privacy before a pairwise kind."""

    def opening(self, start: Vector) -> Vector:
        assert isinstance(self.template, HasOpening), "pairwise kinds have openings"  # noqa: S101
        return self.template.opening(start)

    def agree(self, state: Disguised, slot: int, mine: Vector, theirs: Vector) -> Disguised:
        assert isinstance(self.template, Trades), "chosen for it"  # noqa: S101
        return state._replace(inner=self.template.agree(state.inner, slot, mine, theirs))


def disguise(
    features: Matrix,
    labels: Vector,
    epsilon_features: float,
    epsilon_label: float,
    spend: Spend,
    make: Callable[[Matrix, Vector], Mechanism],
    template: Mechanism,
) -> LocalPrivacy:
    """Return local privacy before an inner mechanism, with the abilities of that."""
    variant = LocalPrivacy
    if isinstance(template, KeepsDuals):
        variant = LocalPrivacyOnEdges
    elif isinstance(template, AnswersServer):
        variant = LocalPrivacyOfClient
    elif isinstance(template, Trades):
        variant = LocalPrivacyOfPairs
    return variant(features, labels, epsilon_features, epsilon_label, spend, make, template)
