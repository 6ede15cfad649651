"""Places: where cities are, what a latency of pairs gives each link, and presets that work as they are written."""

import itertools
import math
import re
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clocks.durations import Constant, lognormal
from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.cities import (
    CITIES,
    EARTH_KM,
    FLOOR_MS,
    MS_PER_KM,
    REGIONS,
    City,
    distance_km,
    one_way_s,
)
from scenarios.planning.pair_latency import Seats
from scenarios.planning.places import PRESETS
from scenarios.planning.places.cities import CitiesTable
from scenarios.planning.places.devices import DevicesTable
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import draws
from tests.support.builders import perform, scenario

HALF_KM = math.pi * EARTH_KM
"""Half the way round the earth."""
PAIRS = list(itertools.combinations(CITIES.values(), 2))


def somewhere(latitude: float, longitude: float) -> City:
    return City("", latitude, longitude, "")


PLACES = st.builds(somewhere, st.floats(-90, 90), st.floats(-180, 180))


@given(PLACES, PLACES)
def test_a_distance_is_the_same_both_ways(one: City, other: City) -> None:
    assert distance_km(one, other) == pytest.approx(distance_km(other, one), abs=1e-6)
    assert 0 <= distance_km(one, other) <= HALF_KM * (1 + 1e-12)


@given(PLACES, PLACES, PLACES)
def test_a_way_round_is_no_shorter(one: City, other: City, third: City) -> None:
    assert distance_km(one, other) <= distance_km(one, third) + distance_km(third, other) + 1e-6


@given(PLACES)
def test_the_other_side_of_the_earth_is_half_way_round(one: City) -> None:
    other = somewhere(-one.latitude, one.longitude - math.copysign(180, one.longitude))
    assert distance_km(one, other) == pytest.approx(HALF_KM, rel=1e-7)
    assert distance_km(one, one) == pytest.approx(0, abs=1e-6)


def test_distances_that_a_pencil_gives() -> None:
    """A quarter of a meridian; a degree of the equator; on the parallel of 60 degrees half a turn leads over the pole."""
    assert distance_km(somewhere(0, 10), somewhere(90, 0)) == pytest.approx(HALF_KM / 2)
    assert distance_km(somewhere(0, 0), somewhere(0, 1)) == pytest.approx(HALF_KM / 180)
    assert distance_km(somewhere(60, 0), somewhere(60, 180)) == pytest.approx(HALF_KM / 3)


@pytest.mark.parametrize(
    ("one", "other", "km"),
    [
        ("London", "New York", 5570),
        ("Paris", "Tokyo", 9713),
        ("Sydney", "London", 16990),
        ("Cape Town", "Cairo", 7235),
        ("Singapore", "Sydney", 6300),
        ("Santiago", "Auckland", 9670),
    ],
)
def test_cities_are_where_maps_have_them(one: str, other: str, km: float) -> None:
    """Distances of tables for travellers, to half a per cent: a sphere is no ellipsoid, a city no point."""
    assert distance_km(CITIES[one], CITIES[other]) == pytest.approx(km, rel=5e-3)


def test_cities_are_where_the_table_of_time_zones_has_them() -> None:
    """Its places have degrees and minutes: ±DDMM±DDDMM, ±DDMMSS±DDDMMSS."""
    pytest.importorskip("tzdata")
    text = resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text()
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    compared = 0
    for _, at, zone, *_ in rows:
        city = CITIES.get(zone.rpartition("/")[2].replace("_", " "))
        if city is not None:
            compared += 1
            north, east = (_degrees(part) for part in re.findall(r"[+-]\d+", at))
            assert distance_km(city, somewhere(north, east)) < 25
    assert compared >= 60


def _degrees(written: str) -> float:
    whole = {5: 2, 6: 3, 7: 2, 8: 3}[len(written)]
    digits = written[1:]
    minutes, seconds = digits[whole : whole + 2], digits[whole + 2 :] or "0"
    size = int(digits[:whole]) + int(minutes) / 60 + int(seconds) / 3600
    return -size if written.startswith("-") else size


def test_every_city_is_on_the_earth_and_alone() -> None:
    for city in CITIES.values():
        assert -90 < city.latitude < 90
        assert -180 < city.longitude <= 180
    assert min(distance_km(one, other) for one, other in PAIRS) > 100
    assert sum(map(len, REGIONS.values())) == len(CITIES)


def test_no_delay_hangs_on_the_last_digit_of_a_float() -> None:
    """Delays are whole microseconds: none is so near to the middle of two that another machine may round it otherwise."""
    for one, other in PAIRS:
        exact_us = (FLOOR_MS + MS_PER_KM * distance_km(one, other)) / 2 * 1000
        assert abs(exact_us % 1 - 0.5) > 1e-5


def latency(plan: Plan, sender: int, receiver: int) -> Any:
    return plan.policy_of(sender, receiver).latency


def world(latency: dict[str, Any], **sections: Any) -> dict[str, Any]:
    network = {"topology": "complete", "latency": {"kind": "cities"} | latency}
    return scenario(network=network, **sections)


OF = ["Paris", "Paris", "Tokyo", "Lima", "London", "Nairobi"]


def test_a_link_takes_half_the_round_trip_of_its_distance() -> None:
    plan = make_plan(world({"of": OF, "spread": 0}))
    for i, j in itertools.permutations(range(6), 2):
        km = distance_km(CITIES[OF[i]], CITIES[OF[j]])
        assert latency(plan, i, j).mean_s == pytest.approx((0.0093 + 1.66e-5 * km) / 2, abs=6e-7)
        assert latency(plan, i, j) is latency(plan, j, i)
    assert latency(plan, 0, 1) == Constant(0.00465)


@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_the_spread_is_that_of_the_logarithm(spread: float) -> None:
    """Median and σ of ln(delay) over 400,000 messages: each within five standard errors."""
    plan, n = make_plan(world({"of": OF, "spread": spread})), 400_000
    drawn = latency(plan, 0, 2).draw(draws(3, "test/spread")(0, n), 0) / 1e9
    logs = np.log(drawn / one_way_s(CITIES["Paris"], CITIES["Tokyo"]))
    assert abs(logs.mean()) < 5 * spread / math.sqrt(n)
    assert logs.std() == pytest.approx(spread, rel=5 / math.sqrt(2 * n))


def test_a_scaled_table_is_the_table_of_the_scaled_law() -> None:
    """Quantiles are rounded to 30 bits before they are multiplied, or after: a part in 2^29 lies between."""
    bits = draws(5, "test/scaled")(0, 10_000)
    for factor in (0.0, 1e-9, 0.145701, 3.0, 1e6):
        got = lognormal(1.0, 0.4).times(factor).draw(bits, 0)
        if factor:
            wanted = lognormal(factor, 0.4).draw(bits, 0)
            assert np.allclose(got, wanted, rtol=2**-28, atol=2)
        else:
            assert not got.any()
    assert lognormal(1.0, 0.4).times(2.0).mean_s == 2 * lognormal(1.0, 0.4).mean_s


def cities_of(plan: Plan) -> list[str]:
    read = plan.resolved["network"]["latency"]
    groups = plan.groups
    table = CitiesTable(
        kind="cities",
        **{k: v for k, v in read.items() if k != "kind"},
    )
    server = plan.size if plan.server is not None else None
    seats = Seats(groups, server, plan.seeds["network"], None)  # type: ignore[arg-type]
    return [city.name for city in table.cities_of(seats)]


def test_one_agent_more_leaves_all_other_cities_alone() -> None:
    few = cities_of(make_plan(world({})))
    more = cities_of(make_plan(world({}, nodes=[{"name": "peers", "count": 9}])))
    assert more[:6] == few
    others = cities_of(make_plan(world({}, run={"seed": 6, "horizon": 20.0})))
    assert others != few


def test_groups_are_in_their_cities() -> None:
    nodes = [{"name": "phones", "count": 30}, {"name": "hubs", "count": 2}]
    groups = {"phones": ["Africa", "Lima"]}
    plan = make_plan(world({"groups": groups, "cities": ["Paris"]}, nodes=nodes))
    phones, hubs = cities_of(plan)[:30], cities_of(plan)[30:]
    assert hubs == ["Paris", "Paris"]
    assert set(phones) <= {city.name for city in REGIONS["Africa"]} | {"Lima"}
    assert 5 < phones.count("Lima") < 25  # an entry of two: 15 ± 2.7
    assert "in cities: Africa" in " ".join(plan.notes)


def test_each_city_of_a_region_is_equally_likely_whatever_stands_beside_it() -> None:
    """Of 1,000 agents half are in Lima, and an eighth of the others in each city of Africa: within five deviations."""
    n, names = 1000, [city.name for city in REGIONS["Africa"]]
    seats = Seats({"peers": tuple(range(n))}, None, 3, None)  # type: ignore[arg-type]
    table = CitiesTable(
        kind="cities",
        spread=0.0,
        cities=["Africa", "Lima"],
        groups=None,
        of=None,
        server=None,
    )
    found = Counter(city.name for city in table.cities_of(seats))
    for name, share in {"Lima": 0.5, **dict.fromkeys(names, 0.5 / len(names))}.items():
        assert found[name] == pytest.approx(n * share, abs=5 * math.sqrt(n * share * (1 - share)))
    assert sum(found.values()) == n


def test_a_server_has_a_city_too(tmp_path: Path) -> None:
    """A round lasts as long as the way to the farthest client and back."""
    sections = {
        "mechanism": {"kind": "fedavg"},
        "run": {"seed": 1, "rounds": 3},
        "nodes": [{"count": 6, "clock": "barrier"}],
    }
    plan = make_plan(world({"of": OF, "server": "Sydney", "spread": 0}, **sections))
    for i, name in enumerate(OF):
        wanted = one_way_s(CITIES[name], CITIES["Sydney"])
        assert latency(plan, i, 6).mean_s == latency(plan, 6, i).mean_s == wanted
    assert sum(times for _, times in plan.latencies) == 12
    slowest = max(one_way_s(CITIES[name], CITIES["Sydney"]) for name in OF)
    closed = [e["t"] for e in perform(plan, tmp_path).events("round_closed")]
    assert closed == [round(2 * k * slowest * 1e9) for k in (1, 2, 3)]


def test_a_message_arrives_when_its_cities_say(tmp_path: Path) -> None:
    made = perform(world({"of": OF, "spread": 0}), tmp_path)
    sent = made.events("sent")
    assert sent
    for event in sent:
        for to, arrives in zip(event["to"], event["arrives"], strict=True):
            delay = arrives - event["t"]
            assert delay == round(one_way_s(CITIES[OF[event["node"]]], CITIES[OF[to]]) * 1e9)


@pytest.mark.parametrize(
    ("latency", "said"),
    [
        ({"cities": ["Pariss"]}, "no city or region 'Pariss'; did you mean 'Paris'"),
        ({"groups": {"peers": ["Atlantis"]}}, "no city or region 'Atlantis'"),
        ({"groups": {"phones": ["Paris"]}}, "no group 'phones'"),
        ({"of": ["Europe"] * 6}, "no city 'Europe'"),
        ({"of": ["Paris"] * 5}, "'of' has 5 cities for 6 agents"),
        ({"of": OF, "cities": ["Paris"]}, "have nothing to draw"),
        ({"spread": -1}, "must be a number"),
        ({"server": "Europe"}, "no city 'Europe'"),
    ],
)
def test_a_wrong_place_is_named(latency: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        make_plan(world(latency))


def test_a_link_has_no_cities_of_its_own() -> None:
    link = [{"between": [[0, 1]], "latency": "cities"}]
    with pytest.raises(ScenarioError, match=r"cities belongs to \[network\]"):
        make_plan(scenario(link=link))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_runs_as_its_example_says(name: str, tmp_path: Path) -> None:
    preset = PRESETS[name]
    base = {
        "schema": 1,
        "name": "preset",
        "nodes": [{"count": 6}],
        "mechanism": {"kind": "cd"},
    }
    world: dict[str, Any] = base | dict(preset.example)
    ends = {"rounds": 5} if "rounds" in world.get("run", {}) else {"horizon": 20.0}
    world["run"] = ends | {"seed": 1}
    made = perform(world, tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    if name == "production-rounds":
        assert {len(e["targets"]) for e in made.events("fault_began")} == {2}  # 8 % of 25
    text = str(preset.example)
    assert preset.table is None or name in text


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_where_it_comes_from_and_where_it_ends(name: str) -> None:
    preset = PRESETS[name]
    assert preset.parameters
    assert all(len(words) > 20 for words in (preset.source, preset.valid, preset.leaves_out))
    assert any(year in preset.source for year in ("19", "20")) or "fit of ours" in preset.source


@pytest.mark.parametrize(
    ("name", "shape", "median_s"),
    [
        ("bittorrent-debian", 0.38, 42.4 * 60 * math.log(2) ** (1 / 0.38)),
        ("bittorrent-redhat", 0.34, 21.3 * 60 * math.log(2) ** (1 / 0.34)),
        ("bittorrent-flatout", 0.59, 41.9 * 60 * math.log(2) ** (1 / 0.59)),
        ("city-pairs", 1.63, 0.0796 * math.log(2) ** (1 / 1.63)),
        ("p2p-median", 0.62, 600 / math.gamma(1 + 1 / 0.62) * math.log(2) ** (1 / 0.62)),
    ],
)
def test_the_parameters_are_the_published_ones(name: str, shape: float, median_s: float) -> None:
    """The median, and the ratio of the quantiles at 1 − 1/e and ½ which the shape alone decides: 1 / ln(2)^(1/shape)."""
    from tests.support.kinds import read_kind

    preset = PRESETS[name]
    assert preset.table is not None
    table = {"kind": name} | ({"mean": 600} if name == "p2p-median" else {})
    law = read_kind({name: preset.table}, table).law(None)
    at = np.array([1 << 63, int((1 - 1 / math.e) * 2**64)], dtype=np.uint64)
    median, scale = law.draw(at, 0).tolist()
    assert median / 1e9 == pytest.approx(median_s, rel=1e-6)
    assert scale / median == pytest.approx(math.log(2) ** (-1 / shape), rel=1e-4)
    twice = read_kind(
        {name: preset.table}, table | ({"mean": 1200} if name == "p2p-median" else {"scaled": 2.0})
    ).law(None)
    assert twice.mean_s == pytest.approx(2 * law.mean_s)


def test_each_device_has_a_speed_of_its_own() -> None:
    """2,000 devices: the median, σ of the logarithm, and the share of stragglers, each within five standard errors."""
    n, sigma, share = 2000, 0.5, 0.1

    def times(stragglers: float) -> Any:
        table = DevicesTable(
            kind="devices", median=2.0, sigma=sigma, stragglers=stragglers, factor=20.0, spread=0.0
        )
        law = table.laws(7)
        laws = [law(i) for i in range(n)]
        assert all(isinstance(own, Constant) for own in laws)
        return np.array([own.mean_s for own in laws])

    alike = times(0.0)
    logs = np.log(alike / 2.0)
    assert abs(logs.mean()) < 5 * sigma / math.sqrt(n)
    assert logs.std() == pytest.approx(sigma, rel=5 / math.sqrt(2 * n))
    ratios = times(share) / alike
    assert set(ratios.round(6)) == {1.0, 20.0}
    assert (ratios > 1).mean() == pytest.approx(share, abs=5 * math.sqrt(share * 0.9 / n))


@pytest.mark.parametrize(("stragglers", "wanted"), [(0.0, 2.0), (1.0, 40.0)])
def test_devices_that_do_not_differ_take_the_median(stragglers: float, wanted: float) -> None:
    table = DevicesTable(
        kind="devices", median=2.0, sigma=0.0, stragglers=stragglers, factor=20.0, spread=0.0
    )
    law = table.laws(7)
    assert {law(i).mean_s for i in range(9)} == {wanted}


def test_a_device_is_as_fast_at_its_last_wake_as_at_its_first(tmp_path: Path) -> None:
    compute = {"kind": "devices", "median": 0.1, "stragglers": 0.0}
    nodes = [{"count": 6, "clock": "synchronous", "compute": compute}]
    made = perform(scenario(nodes=nodes), tmp_path)
    late: dict[int, set[int]] = {}
    for event in made.events("sent"):
        late.setdefault(event["node"], set()).add(event["t"] % 10**9)
    assert len({min(times) for times in late.values()}) == 6
    assert {len(times) for times in late.values()} == {1}
