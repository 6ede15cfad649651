"""Where agents are: the cities of a latency by cities, and the regions that fail and sleep together."""

from typing import TYPE_CHECKING

from scenarios.planning.cities import City
from scenarios.planning.mechanism import family_of
from scenarios.planning.pair_latency import Seats
from scenarios.planning.places.cities import CitiesTable

if TYPE_CHECKING:
    from scenarios.planning.context import PlanningContext

_FEW = 10
"""So many agents are named one by one."""


def seats_of(at: "PlanningContext") -> Seats:
    """Return the ids of a scenario's groups, and of its server."""
    ids, first = dict[str, tuple[int, ...]](), 0
    for g, group in enumerate(at.groups):
        ids[group.name or f"group{g}"] = tuple(range(first, first + group.count))
        first += group.count
    server = at.size if family_of(at.read) == "server" else None
    return Seats(ids, server, at.seeds["network"], at.folders)


def cities_of(at: "PlanningContext") -> tuple[City, ...] | None:
    """Return the city of each agent, and last that of a server; None where latency is not by cities. Raises BadData."""
    table = at.read.network.latency
    return table.cities_of(seats_of(at)) if isinstance(table, CitiesTable) else None


def regions_of(at: "PlanningContext") -> dict[str, tuple[int, ...]]:
    """Return the ids of each region: those of cities where latency is by cities, else the groups. Raises BadData."""
    cities = cities_of(at)
    if cities is None:
        return dict(seats_of(at).groups)
    ids: dict[str, list[int]] = {}
    for i, city in enumerate(cities):
        ids.setdefault(city.region, []).append(i)
    return {region: tuple(ids[region]) for region in sorted(ids)}


def in_words(cities: tuple[City, ...]) -> str:
    """Say where agents are: the city of each of a few, in the order of ids, or how many are in each region."""
    if len(cities) <= _FEW:
        return f"in cities: {', '.join(city.name for city in cities)}"
    regions = [city.region for city in cities]
    counts = (f"{region} {regions.count(region)}" for region in sorted(set(regions)))
    return f"in cities: {', '.join(counts)}"
