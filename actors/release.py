"""The order of a release: filter, charge, draw noise k, finish. Nothing else charges a ledger or draws noise of an agent.

`admit` comes first: what it charged stays charged, whatever happens before `release` is called. A crash in between costs
the release, and its noise is never drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.noise import Law, NoiseStream
from mechanisms.strategy import State
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.agent import Agent

Finish = Callable[[np.random.Generator], tuple[State, Vector | None]]
"""Turns noise into the next state, and what leaves."""
Draw = Callable[[int], np.random.Generator]
"""The noise of an agent: of a release, by its number."""


class Verdict(NamedTuple):
    """What became of a release that was asked for: its number among those of its agent, and why it was refused.

    `refused` is empty where it was charged; else `storage` (the ledger is not trusted any more), `planned` (all planned
    releases are made) or `cap` (it would break the budget).
    """

    k: int
    refused: str


def admit(rows: Sequence[tuple[Agent, Spend]]) -> list[Verdict]:
    """Ask for releases in the order of time: those that their filters admit are charged, at once and for good."""
    verdicts = []
    for agent, spend in rows:
        store = agent.store
        k = len(store.ledger)
        refused = _refusal(agent, spend, k)
        if not refused:
            store.ledger.charge(spend)
            store.counter = k + 1  # by the ledger: this mends a counter that was set back
            if agent.participation is not None:
                agent.participation.pay()
        verdicts.append(Verdict(k, refused))
    return verdicts


def _refusal(agent: Agent, spend: Spend, k: int) -> str:
    """Return why release k may not be charged; empty where it may."""
    if not agent.store.trusted:
        return "storage"
    planned, cap = agent.planned, agent.settings.cap
    if planned is not None and k >= planned:
        # A plan promises so many releases: an agent that has made them makes no more (DECISIONS.md #116).
        return "planned"
    if cap is None:
        return ""
    table = agent.admissions
    if table is not None and not table.has(k, spend):
        table = agent.admissions = None  # its ledger follows no schedule from here on
    admitted = cap.admits(agent.store.ledger, spend) if table is None else table.admits(k)
    return "" if admitted else "cap"


def release(rows: Sequence[tuple[Agent, int, Spend, Finish]]) -> list[tuple[State, Vector | None]]:
    """Draw the noise of releases that were charged, each by its number, and finish them: next states and what leaves."""
    made = []
    for agent, k, spend, finish in rows:
        made.append(finish(agent.noise(k)))
        if not agent.noise_is_shared:
            agent.noise_stream.compare(spend)
    return made


def release_jointly(
    agents: Sequence[Agent], spends: Sequence[Spend], finish: Callable[[list[Draw]], Matrix]
) -> Matrix:
    """Do the same for agents whose releases are computed in one call, which draws the noise of each; return what leaves."""
    vectors = finish([agent.noise for agent in agents])
    for agent, spend in zip(agents, spends, strict=True):
        if not agent.noise_is_shared:
            agent.noise_stream.compare(spend)
    return vectors


def draw_for_round(server: Agent) -> np.random.Generator:
    """Return the noise of a server for its round: it was charged to the clients that answered."""
    return server.noise(server.rounds)


# releases that were admitted on copies of ledgers, and computed ahead of their time


def draw_ahead(
    noise: Matrix,
    streams: Sequence[NoiseStream],
    k: Sequence[int],
    spends: Sequence[Spend],
    law: Law,
) -> list[tuple[int, list[float]]]:
    """Draw the noise of releases by their numbers, a row each: it counts as drawn when the release is taken over.

    Return the rows that were drawn with other scales than their spends state, and these scales.
    """
    odd = []
    fill = law.fill
    for at, (row, stream, number, spend) in enumerate(zip(noise, streams, k, spends, strict=True)):
        scale = spend.scale
        generator = stream.generator(number)
        fill(generator, scale, row)
        if generator.scales != [scale]:
            odd.append((at, generator.scales))
    return odd


def take_over(agent: Agent, spends: Sequence[Spend], first: int) -> None:
    """Charge an agent's next releases, which were admitted on a copy of its ledger, and note that their noise was drawn.

    They are numbered from `first` on, and each costs one of `spends`.
    """
    store, stream, last = agent.store, agent.noise_stream, first + len(spends) - 1
    charge = store.ledger.charge
    for spend in spends:
        charge(spend)
    store.counter = last + 1
    stream.note(first)
    stream.last = last
