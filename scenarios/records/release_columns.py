"""The releases of a record as columns: a number for each release, and one spend for many of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from actors.turns import Turns, Words
from mechanisms.accounting.spend import Spend
from scenarios.records.ledger_file import spend_of


@dataclass(frozen=True, eq=False)
class ReleaseColumns(Sequence[dict[str, Any]]):
    """Ledger lines in the order of the record; each is made when it is asked for."""

    seq: Words
    """The number of the event that charged each."""
    t: Words
    node: Words
    k: Words
    place: Words
    """The place of its spend in `spends`."""
    spends: Sequence[dict[str, Any]]
    """Each different spend as a line of a ledger has it."""

    def __len__(self) -> int:
        return len(self.seq)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns = (self.seq, self.t, self.node, self.k, self.place)
        for seq, t, node, k, place in zip(*map(np.ndarray.tolist, columns), strict=True):
            yield {"seq": seq, "t": t, "node": node, "k": k, **self.spends[place]}

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> "ReleaseColumns": ...
    def __getitem__(self, at: int | slice) -> "dict[str, Any] | ReleaseColumns":
        if isinstance(at, slice):
            columns = (self.seq[at], self.t[at], self.node[at], self.k[at], self.place[at])
            return ReleaseColumns(*columns, self.spends)
        head = {"seq": self.seq[at], "t": self.t[at], "node": self.node[at], "k": self.k[at]}
        plain = {name: int(value) for name, value in head.items()}
        return plain | self.spends[int(self.place[at])]

    @property
    def are_without_gaps(self) -> bool:
        """Whether each agent has releases 0, 1, 2 … once each."""
        order, firsts = self._by_agent
        counts = np.diff(firsts, append=len(order))
        expected = np.arange(len(order)) - np.repeat(firsts, counts)
        return bool((self.k[order] == expected).all())

    @property
    def _by_agent(self) -> tuple[Words, Words]:
        """Return the places of releases by agent and number, and where each agent begins among them."""
        order = np.lexsort((self.k, self.node))
        nodes = self.node[order]
        return order, np.flatnonzero(np.diff(nodes, prepend=-1))

    def of_agents(self) -> dict[int, list[Spend]]:
        """Return every agent's spends, in the order of its releases."""
        known = [spend_of(line) for line in self.spends]
        order, firsts = self._by_agent
        agents = self.node[order[firsts]].tolist()
        ends = [*firsts[1:].tolist(), len(order)]
        places = self.place[order].tolist()
        return {
            agent: [known[place] for place in places[first:end]]
            for agent, first, end in zip(agents, firsts.tolist(), ends, strict=False)
        }

    def told_apart(self, plans: Words) -> Iterator[dict[str, Any]]:
        """Yield one line of each plan, number and spend: `plans` are numbers of plans, one for each agent."""
        keys = np.stack([plans[self.node], self.k, self.place])
        for at in np.unique(keys, axis=1, return_index=True)[1].tolist():
            yield self[at]


CHARGED_AFTER = 1
"""`charged` is so many events after `proposed`."""
_LINE = b'{"seq":%d,"t":%d,"node":%d,"k":%d,%s'


def charges_of(turns: Turns) -> Words:
    """Return five rows: number, instant, agent, release, and place of the spend of each charge in some turns."""
    made = np.flatnonzero(turns.released)
    before = turns.settled + turns.superseded + turns.woke + turns.merged
    seqs = (turns.seq + before)[made] + CHARGED_AFTER
    return np.stack([seqs, turns.t[made], turns.agent[made], turns.k[made], turns.spend[made]])


def end_of_line(spend: bytes) -> bytes:
    """Return the end of a line of a ledger file, behind what is of its release alone; `spend` is the JSON of a spend."""
    return spend[1:] + b"\n"


def text_of(charges: Words, ends: Sequence[bytes]) -> bytes:
    """Return charges as lines of a ledger file; `ends` are those of the lines of each spend."""
    return b"".join(
        [_LINE % (seq, t, node, k, ends[i]) for seq, t, node, k, i in charges.T.tolist()]
    )
