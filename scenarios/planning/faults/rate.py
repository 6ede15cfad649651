"""rate: a link carries so many bytes per second."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import size
from scenarios.planning.fault_examples import Example, some_links
from scenarios.planning.fault_kinds import FaultTable, link_fault
from scenarios.planning.fault_tables import LinksTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


class RateTable(LinksTable):
    """A token bucket: `bytes` per second, `burst` bytes at once."""

    bytes: float = key(size(zero=False), REQUIRED)
    burst: float = key(size(), 0.0)


def build(at: "FaultBuilder", fault: FaultTable, value: RateTable) -> "Action":
    """Return the action."""
    from actors.faults.link_actions import without_chance
    from actors.faults.link_effects import RateLimit

    limit = partial(RateLimit, bytes_per_second=value.bytes, burst=value.burst)
    return at.link_action(fault, value.on, without_chance(limit))


KIND = link_fault(
    name="rate",
    order=160,
    table=RateTable,
    says="so many bytes per second, no more",
    words=(
        "a token bucket; `[network] rate` and `[[link]] rate` are the same for good. A vector has 8 "
        "bytes a number, a control message none"
    ),
    template="rate {} bytes=1kB",
    loses=False,
    stalls=False,
    build=build,
    examples=(
        Example(
            "rate",
            lambda luck, count: {
                "rate": {"on": some_links(luck, count), "bytes": 40, "burst": luck.pick((0, 100))}
            },
        ),
    ),
)
