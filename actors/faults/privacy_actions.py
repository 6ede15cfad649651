"""What a scenario does to ledgers and to who speaks: disks that lie, crashes at the worst instant, doubles, replays."""

from dataclasses import dataclass

from actors.events import Charged, Event, Sent
from actors.faults import overlapping_absences
from actors.faults.context import Strike, Undo
from actors.faults.link_actions import Ailment, Where
from actors.faults.link_effects import Poisoning
from actors.faults.targets import Target


@dataclass(frozen=True, slots=True)
class Harm:
    """A disk misbehaves; it shows when its agent crashes."""

    target: Target
    kind: str
    name: str = "storage"
    undone: str = "heal"

    def begin(self, strike: Strike) -> Undo | None:
        harmed = [
            (agent.store, agent.store.harm(self.kind)) for agent in strike.stage.agents(strike.hit)
        ]

        def undo(_: int) -> None:
            for store, harm in harmed:
                store.mend(harm)

        return undo


@dataclass(frozen=True, slots=True)
class Ambush:
    """Each agent crashes at its next charge, before its noise is drawn; or at its next message, just sent."""

    target: Target
    kind: str
    lose: str = "volatile"
    name: str = "privacy"
    undone: str = "restart"

    def begin(self, strike: Strike) -> Undo | None:
        armed, struck = set(strike.hit), list[int]()
        members, log = strike.stage.members, strike.stage.log
        awaited: dict[str, type[Event]] = {"crash-after-charge": Charged, "crash-after-send": Sent}
        kinds = (awaited[self.kind],)

        def spring(event: Event) -> None:
            node = event.node
            if node not in armed or node is None:
                return
            if isinstance(event, Sent) and (event.resent or not event.bytes):
                return
            armed.discard(node)
            if not armed:
                log.ignore(spring, kinds)
            if overlapping_absences.hold_down(members, node, self.lose, strike.cause):
                struck.append(node)

        log.watch(spring, kinds)

        def undo(ended: int) -> None:
            log.ignore(spring, kinds)
            for i in struck:
                overlapping_absences.let_up(members, i, ended, strike.cause)

        return undo


@dataclass(frozen=True, slots=True)
class Doubled:
    """A second instance of an agent runs, from a copy of what it holds; both pay into one ledger."""

    target: Target
    name: str = "privacy"
    undone: str = "heal"

    def begin(self, strike: Strike) -> Undo | None:
        agents = strike.stage.agents(strike.hit)
        for agent in agents:
            agent.plight.twin = agent.state if agent.plight.twin is None else agent.plight.twin
            agent.plight.twins += 1

        def undo(_: int) -> None:
            for agent in agents:
                agent.plight.twins -= 1
                if not agent.plight.twins:
                    agent.plight.twin = None

        return undo


@dataclass(frozen=True, slots=True)
class Replayed:
    """The first message of each link arrives again."""

    target: Target
    name: str = "privacy"
    undone: str = ""

    def begin(self, strike: Strike) -> Undo | None:
        for agent in strike.stage.agents(strike.hit):
            agent.outbox.replay(strike.cause)
        return None


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The counters of an agent are set back, as an old machine is restored."""

    target: Target
    name: str = "privacy"
    undone: str = ""

    def begin(self, strike: Strike) -> Undo | None:
        for agent in strike.stage.agents(strike.hit):
            agent.store.roll_back()
        return None


@dataclass(frozen=True, slots=True)
class Interfered:
    """Questions come twice, or what is sent is poisoned on its way."""

    target: Target
    ailment: Ailment
    name: str = "privacy"
    undone: str = "heal"

    def begin(self, strike: Strike) -> Undo | None:
        direction = "from" if self.ailment.of is Poisoning else "to"
        where = Where(self.target, (), direction)  # type: ignore[arg-type]
        return strike.stage.burden(
            where.links(strike.hit, strike.stage),
            self.ailment.maker(strike),
        )
