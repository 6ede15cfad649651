"""Latency by the distance of cities (Landa, Araújo, Clegg, Mykoniati, Griffin, Rio 2013)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from scenarios.language.problems import Report, nearest
from scenarios.language.table_rules import Free, Many, key
from scenarios.language.value_rules import Name, Number
from scenarios.planning import cities
from scenarios.planning.cities import CITIES, FLOOR_MS, MS_PER_KM, REGIONS, City
from scenarios.planning.files import BadData
from scenarios.planning.pair_latency import PairLatencyTable, PairLaw, Seats
from scenarios.planning.places import Parameter, Preset

if TYPE_CHECKING:
    from clocks.durations import Duration

_PLACE = Name("the name of a city or region")


class CitiesTable(PairLatencyTable):
    """Every agent is in a city; a delay is half a round trip of their distance, times a lognormal factor of `spread`.

    An agent's city is drawn among `cities`, or among those of its group in `groups`; each entry is equally likely, and then
    each city of a region. Or `of` names the city of each agent.
    """

    spread: float = key(
        Number(low=0, high=3),
        0.2,
        words="The standard deviation of the logarithm of a factor for each delay.",
    )
    cities: list[str] | None = key(
        Many(_PLACE, 1, 10_000),
        words="The cities and regions among which an agent's city is drawn; left out, all cities.",
    )
    groups: Mapping[str, list[str]] | None = key(
        Free(Many(_PLACE, 1, 10_000)),
        words="The same for the agents of one group, by the name of the group.",
    )
    of: list[str] | None = key(
        Many(_PLACE, 1), words="The city of each agent, in the order of ids."
    )
    server: str | None = key(
        _PLACE, words="The city of the server; left out, it is drawn among `cities`."
    )
    names_server: ClassVar[bool] = True

    def check(self, report: Report) -> None:
        places = {**REGIONS, **CITIES}
        written = [("cities", name) for name in self.cities or []]
        written += [("groups", name) for names in (self.groups or {}).values() for name in names]
        for where, name in written:
            if name not in places:
                hint = nearest(name, places)
                report.value(self.path_to(where), f"no city or region '{name}'; {hint}")
        alone = [("of", name) for name in self.of or []]
        if self.server is not None:
            alone.append(("server", self.server))
        for where, name in alone:
            if name not in CITIES:
                report.value(self.path_to(where), f"no city '{name}'; {nearest(name, CITIES)}")
        if "of" in self.given and {"cities", "groups"} & self.given:
            said = "of names the city of each agent: cities and groups have nothing to draw"
            report.key(self.path_to("of"), said)

    def cities_of(self, seats: Seats) -> tuple[City, ...]:
        """Return the city of each agent, and last that of a server. Raises BadData.

        The city of an agent is a draw of its own: one agent more leaves all other cities alone.
        """
        if self.of is not None:
            if len(self.of) != seats.agents:
                raise BadData(f"'of' has {len(self.of)} cities for {seats.agents} agents")
            agents = [CITIES[name] for name in self.of]
        else:
            agents = self._drawn(seats)
        if seats.server is None:
            return tuple(agents)
        return (*agents, _draw(seats, "server", [self.server] if self.server else self.cities))

    def _drawn(self, seats: Seats) -> list[City]:
        groups = self.groups or {}
        for name in groups:
            if name not in seats.groups:
                raise BadData(f"no group '{name}'; {nearest(name, seats.groups)}")
        return [
            _draw(seats, str(i), groups.get(name, self.cities))
            for name, ids in seats.groups.items()
            for i in ids
        ]

    def laws(self, seats: Seats) -> PairLaw:
        from clocks.durations import Constant, lognormal

        at, known = self.cities_of(seats), dict[float, "Duration"]()

        def law(sender: int, receiver: int) -> "Duration":
            median_s = cities.one_way_s(at[sender], at[receiver])
            if median_s not in known:
                known[median_s] = (
                    lognormal(1.0, self.spread).times(median_s)
                    if self.spread
                    else Constant(median_s)
                )
            return known[median_s]

        return law


def _draw(seats: Seats, who: str, among: list[str] | None) -> City:
    """Draw a city among names of cities and regions; among all cities where None are named."""
    from scenarios.planning.seeds import draws

    names = list(CITIES) if among is None else among
    entry, city = (int(word) for word in draws(seats.seed, f"network/city/{who}")(0, 2))
    place = cities.named(names[entry * len(names) >> 64])
    return place[city * len(place) >> 64]


KINDS = (
    Preset(
        name="cities",
        sets="latency",
        says="one-way delay by the distance of two cities, times a lognormal factor",
        parameters=(
            Parameter("round trip", FLOOR_MS, "ms"),
            Parameter("and", MS_PER_KM, "ms/km"),
            Parameter("spread", 0.2, "σ of the factor"),
            Parameter("cities", f"{len(CITIES)} in {len(REGIONS)} regions"),
        ),
        source="Landa, Araújo, Clegg, Mykoniati, Griffin, Rio 2013, The large-scale geography of Internet round trip times; coordinates are public facts",
        valid="medians between places that are joined by land and sea cables; the median error is 11 %",
        leaves_out="routes: a delay is half the round trip both ways, and cables that go round a continent are not known; the spread is a choice, not measured",
        usage=(
            'latency = { kind = "cities", spread = 0.2 }',
            'latency = { kind = "cities", cities = ["Europe", "Tokyo"] }',
            'latency = { kind = "cities", groups = { phones = ["Africa"] } }',
            'latency = { kind = "cities", of = ["Paris", "Lima", "Oslo"] }',
        ),
        example={"network": {"latency": {"kind": "cities", "spread": 0.2}}},
        table=CitiesTable,
    ),
)
