"""What a fault does to ledgers and to what stands behind messages: bad disks, crashes at the worst instant, twins, replays.

As with `agent_actions`, each function returns what undoes it; None where nothing is to be undone.
"""

from actors.events import Charged, Event, Sent
from actors.faults.context import Firing, Undo
from actors.faults.overlapping_absences import crash_for, restart_after


def break_disk(firing: Firing, kind: str) -> Undo:
    """Let disks misbehave; it shows when their agents crash."""
    broken = [
        (agent.store, agent.store.add_disk_fault(kind))
        for agent in firing.context.agents(firing.hit)
    ]

    def undo(_: int) -> None:
        for store, harm in broken:
            store.remove_disk_fault(harm)

    return undo


def crash_at(firing: Firing, awaited: type[Charged | Sent], lose: str) -> Undo:
    """Crash each agent at its next charge, before its noise is drawn; or at its next message, which was just sent."""
    armed, crashed = set(firing.hit), list[int]()
    members, log = firing.context.members, firing.context.log
    kinds: tuple[type[Event], ...] = (awaited,)

    def look(event: Event) -> None:
        node = event.node
        if node not in armed or node is None:
            return
        if isinstance(event, Sent) and (event.resent or not event.bytes):
            return
        armed.discard(node)
        if not armed:
            log.ignore(look, kinds)
        if crash_for(members, node, lose, firing.cause):
            crashed.append(node)

    log.watch(look, kinds)

    def undo(ended: int) -> None:
        log.ignore(look, kinds)
        for i in crashed:
            restart_after(members, i, ended, firing.cause)

    return undo


def run_twin(firing: Firing) -> Undo:
    """Run a second instance of each agent, from a copy of its state; both pay into one ledger."""
    doubled = [agent.fault_state for agent in firing.context.agents(firing.hit)]
    for agent in firing.context.agents(firing.hit):
        if agent.fault_state.twin_state is None:
            agent.fault_state.twin_state = agent.state
        agent.fault_state.twin_count += 1

    def undo(_: int) -> None:
        for fault_state in doubled:
            fault_state.twin_count -= 1
            if not fault_state.twin_count:
                fault_state.twin_state = None

    return undo


def replay(firing: Firing) -> None:
    """Deliver the first message of each link again; the outbox must remember `FIRST_MESSAGES`."""
    for agent in firing.context.agents(firing.hit):
        agent.outbox.replay(firing.cause)


def roll_back_counter(firing: Firing) -> None:
    """Set the counters of agents back, as when an old machine is restored."""
    for agent in firing.context.agents(firing.hit):
        agent.store.roll_back()
