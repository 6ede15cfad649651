"""rate: a link carries so many bytes per second, by a token bucket.

`[network] rate` and `[[link]] rate` are the same for good. A vector has 8 bytes a number, a control message none.
"""

from functools import partial

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import size
from scenarios.planning.fault_examples import Example, some_links
from scenarios.planning.fault_kinds import LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import LinksTable


class RateTable(LinksTable):
    """A token bucket: `bytes` per second, `burst` bytes at once."""

    bytes: float = key(size(zero=False), REQUIRED, words="How many bytes a second a link carries.")
    burst: float = key(size(), 0.0, words="How many bytes may go at once after a pause.")


KIND = LinkFault(
    name="rate",
    order=160,
    table=RateTable,
    says="so many bytes per second, no more",
    template="rate {} bytes=1kB",
    loses=False,
    stalls=False,
    build=lambda at, fault, value: at.on_links(
        fault,
        value.on,
        link_actions.without_chance(
            partial(link_effects.RateLimit, bytes_per_second=value.bytes, burst=value.burst)
        ),
    ),
    examples=(
        Example(
            "rate",
            lambda luck, count: {
                "rate": {"on": some_links(luck, count), "bytes": 40, "burst": luck.pick((0, 100))}
            },
        ),
    ),
)
