"""Cities of the world: where they are, and how long a message takes from one to another."""

import math
from typing import NamedTuple

EARTH_KM = 6371.0
"""The mean radius of the earth."""
FLOOR_MS, MS_PER_KM = 9.3, 0.0166
"""Median round trip: so many milliseconds, and so many more for each kilometre of great circle (Landa et al. 2013)."""


class City(NamedTuple):
    """A city: degrees north and east, negative to the south and west."""

    name: str
    latitude: float
    longitude: float
    region: str


def distance_km(one: City, other: City) -> float:
    """Return the length of the great circle between two cities, in kilometres."""
    a, b = math.radians(one.latitude), math.radians(other.latitude)
    turn = math.radians(other.longitude - one.longitude)
    along = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(turn)
    across = math.hypot(
        math.cos(b) * math.sin(turn),
        math.cos(a) * math.sin(b) - math.sin(a) * math.cos(b) * math.cos(turn),
    )
    return EARTH_KM * math.atan2(across, along)  # exact near and far, unlike the arc of a cosine


def one_way_s(one: City, other: City) -> float:
    """Return half of the median round trip in seconds, in whole microseconds: 60 m of distance, on every machine alike."""
    round_trip_ms = FLOOR_MS + MS_PER_KM * distance_km(one, other)
    return round(round_trip_ms / 2 * 1000) / 1e6


_NORTH_AMERICA = "North America"
_SOUTH_AMERICA = "South America"
_EUROPE = "Europe"
_AFRICA = "Africa"
_MIDDLE_EAST = "Middle East"
_SOUTH_ASIA = "South Asia"
_EAST_ASIA = "East Asia"
_OCEANIA = "Oceania"

_ALL = (
    City("Atlanta", 33.75, -84.39, _NORTH_AMERICA),
    City("Chicago", 41.88, -87.63, _NORTH_AMERICA),
    City("Dallas", 32.78, -96.80, _NORTH_AMERICA),
    City("Denver", 39.74, -104.99, _NORTH_AMERICA),
    City("Los Angeles", 34.05, -118.24, _NORTH_AMERICA),
    City("Mexico City", 19.43, -99.13, _NORTH_AMERICA),
    City("Miami", 25.76, -80.19, _NORTH_AMERICA),
    City("Montreal", 45.50, -73.57, _NORTH_AMERICA),
    City("New York", 40.71, -74.01, _NORTH_AMERICA),
    City("San Francisco", 37.77, -122.42, _NORTH_AMERICA),
    City("Seattle", 47.61, -122.33, _NORTH_AMERICA),
    City("Toronto", 43.65, -79.38, _NORTH_AMERICA),
    City("Vancouver", 49.28, -123.12, _NORTH_AMERICA),
    City("Washington", 38.91, -77.04, _NORTH_AMERICA),
    City("Bogota", 4.71, -74.07, _SOUTH_AMERICA),
    City("Buenos Aires", -34.60, -58.38, _SOUTH_AMERICA),
    City("Lima", -12.05, -77.04, _SOUTH_AMERICA),
    City("Rio de Janeiro", -22.91, -43.17, _SOUTH_AMERICA),
    City("Santiago", -33.45, -70.67, _SOUTH_AMERICA),
    City("Sao Paulo", -23.55, -46.63, _SOUTH_AMERICA),
    City("Amsterdam", 52.37, 4.90, _EUROPE),
    City("Athens", 37.98, 23.73, _EUROPE),
    City("Berlin", 52.52, 13.41, _EUROPE),
    City("Brussels", 50.85, 4.35, _EUROPE),
    City("Dublin", 53.35, -6.26, _EUROPE),
    City("Frankfurt", 50.11, 8.68, _EUROPE),
    City("Helsinki", 60.17, 24.94, _EUROPE),
    City("Kyiv", 50.45, 30.52, _EUROPE),
    City("Lisbon", 38.72, -9.14, _EUROPE),
    City("London", 51.51, -0.13, _EUROPE),
    City("Madrid", 40.42, -3.70, _EUROPE),
    City("Milan", 45.46, 9.19, _EUROPE),
    City("Moscow", 55.76, 37.62, _EUROPE),
    City("Oslo", 59.91, 10.75, _EUROPE),
    City("Paris", 48.86, 2.35, _EUROPE),
    City("Prague", 50.08, 14.44, _EUROPE),
    City("Rome", 41.90, 12.50, _EUROPE),
    City("Stockholm", 59.33, 18.07, _EUROPE),
    City("Vienna", 48.21, 16.37, _EUROPE),
    City("Warsaw", 52.23, 21.01, _EUROPE),
    City("Zurich", 47.38, 8.54, _EUROPE),
    City("Accra", 5.60, -0.19, _AFRICA),
    City("Addis Ababa", 9.03, 38.74, _AFRICA),
    City("Cairo", 30.04, 31.24, _AFRICA),
    City("Cape Town", -33.92, 18.42, _AFRICA),
    City("Casablanca", 33.57, -7.59, _AFRICA),
    City("Johannesburg", -26.20, 28.05, _AFRICA),
    City("Lagos", 6.52, 3.38, _AFRICA),
    City("Nairobi", -1.29, 36.82, _AFRICA),
    City("Dubai", 25.20, 55.27, _MIDDLE_EAST),
    City("Istanbul", 41.01, 28.98, _MIDDLE_EAST),
    City("Riyadh", 24.71, 46.68, _MIDDLE_EAST),
    City("Tehran", 35.69, 51.39, _MIDDLE_EAST),
    City("Tel Aviv", 32.09, 34.78, _MIDDLE_EAST),
    City("Bangalore", 12.97, 77.59, _SOUTH_ASIA),
    City("Colombo", 6.93, 79.86, _SOUTH_ASIA),
    City("Delhi", 28.61, 77.21, _SOUTH_ASIA),
    City("Dhaka", 23.81, 90.41, _SOUTH_ASIA),
    City("Karachi", 24.86, 67.01, _SOUTH_ASIA),
    City("Mumbai", 19.08, 72.88, _SOUTH_ASIA),
    City("Bangkok", 13.76, 100.50, _EAST_ASIA),
    City("Beijing", 39.90, 116.41, _EAST_ASIA),
    City("Hanoi", 21.03, 105.85, _EAST_ASIA),
    City("Hong Kong", 22.32, 114.17, _EAST_ASIA),
    City("Jakarta", -6.21, 106.85, _EAST_ASIA),
    City("Kuala Lumpur", 3.14, 101.69, _EAST_ASIA),
    City("Manila", 14.60, 120.98, _EAST_ASIA),
    City("Osaka", 34.69, 135.50, _EAST_ASIA),
    City("Seoul", 37.57, 126.98, _EAST_ASIA),
    City("Shanghai", 31.23, 121.47, _EAST_ASIA),
    City("Singapore", 1.35, 103.82, _EAST_ASIA),
    City("Taipei", 25.03, 121.57, _EAST_ASIA),
    City("Tokyo", 35.68, 139.69, _EAST_ASIA),
    City("Auckland", -36.85, 174.76, _OCEANIA),
    City("Brisbane", -27.47, 153.03, _OCEANIA),
    City("Melbourne", -37.81, 144.96, _OCEANIA),
    City("Perth", -31.95, 115.86, _OCEANIA),
    City("Sydney", -33.87, 151.21, _OCEANIA),
)

CITIES: dict[str, City] = {city.name: city for city in _ALL}
"""Every city by its name, to a hundredth of a degree."""
REGIONS: dict[str, tuple[City, ...]] = {
    region: tuple(city for city in _ALL if city.region == region)
    for region in dict.fromkeys(city.region for city in _ALL)
}
"""The cities of each region."""


def named(name: str) -> tuple[City, ...]:
    """Return the cities that a name stands for: one city, or those of a region. Raises KeyError."""
    return REGIONS[name] if name in REGIONS else (CITIES[name],)
