"""Overlapping faults of absence: an agent returns only when every fault that took it down, or away, has ended."""

from actors.agent import DOWN, LEFT
from actors.membership import Membership


def crash_for(members: Membership, node: int, lose: str, fault: int) -> bool:
    """Crash an agent until `restart_after`; return whether this fault keeps it down.

    An agent that is down already is kept down by this fault, too.
    """
    agent = members.agents[node]
    kept = members.crash(node, lose, fault) or agent.status == DOWN
    if kept:
        agent.fault_state.down_by |= {fault}
    return kept


def restart_after(members: Membership, node: int, cause: int, fault: int) -> None:
    """Restart an agent, unless another fault keeps it down, or it was restarted meanwhile."""
    fault_state = members.agents[node].fault_state
    if fault in fault_state.down_by:
        fault_state.down_by -= {fault}
        if not fault_state.down_by:
            members.restart(node, cause)


def leave_for(members: Membership, node: int, fault: int) -> bool:
    """Let an agent leave until `rejoin_after`; return whether this fault keeps it away.

    An agent that a fault keeps away already is kept away by this one, too.
    """
    agent = members.agents[node]
    kept = members.leave(node, fault) or (agent.status == LEFT and bool(agent.fault_state.away_by))
    if kept:
        agent.fault_state.away_by |= {fault}
    return kept


def rejoin_after(members: Membership, node: int, cause: int, fault: int) -> None:
    """Let an agent join again, unless another fault keeps it away, or it has come back meanwhile."""
    fault_state = members.agents[node].fault_state
    if fault in fault_state.away_by:
        fault_state.away_by -= {fault}
        if not fault_state.away_by:
            members.join(node, cause)


def edges_of_topology(members: Membership, node: int) -> frozenset[int]:
    """Return the neighbours that the topology gives an agent."""
    agent = members.agents[node]
    return frozenset(agent.neighbours) - agent.fault_state.named_neighbours
