"""Windows of absence that overlap: who is held down or away by several faults comes back with the last of them."""

from actors.agent import DOWN, LEFT
from actors.membership import Membership


def hold_down(members: Membership, node: int, lose: str, cause: int) -> bool:
    """Crash an agent for a while; one that is down already is held down by this fault, too."""
    agent = members.agents[node]
    held = members.crash(node, lose, cause) or agent.status == DOWN
    if held:
        agent.plight.downs.add(cause)
    return held


def let_up(members: Membership, node: int, cause: int, began: int) -> None:
    """Restart it, when no other fault holds it down, and nobody restarted it meanwhile."""
    downs = members.agents[node].plight.downs
    if began in downs:
        downs.discard(began)
        if not downs:
            members.restart(node, cause)


def hold_away(members: Membership, node: int, cause: int) -> bool:
    """Let an agent leave for a while; one that a fault keeps away already is kept by this one, too."""
    agent = members.agents[node]
    held = members.leave(node, cause) or (agent.status == LEFT and bool(agent.plight.aways))
    if held:
        agent.plight.aways.add(cause)
    return held


def let_back(members: Membership, node: int, cause: int, began: int) -> None:
    """Let it join again, when no other fault keeps it away, and it has not come back meanwhile."""
    aways = members.agents[node].plight.aways
    if began in aways:
        aways.discard(began)
        if not aways:
            members.join(node, cause)


def by_rule(members: Membership, node: int) -> frozenset[int]:
    """Return the edges that the topology gives an agent."""
    agent = members.agents[node]
    return frozenset(agent.neighbours) - agent.plight.strangers
