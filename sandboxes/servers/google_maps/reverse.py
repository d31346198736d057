"""From a position to names: the place there, the house, the town, the state and the country."""

from m3bench.sandboxes.servers.google_maps import matches
from m3bench.sandboxes.servers.google_maps.matches import Match
from m3bench.sandboxes.world import geo, places, settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.streets import Street, streets

PLACE_M = 60.0
STREET_M = 150.0
TOWN_M = 40_000.0
COUNTRY_M = 400_000.0


def reverse(point: Point) -> list[Match]:
    """What is at a position, most specific first; empty far out at sea."""
    found = [matches.of_place(place) for _, place in places.within(point, PLACE_M)[:3]]
    street = nearest_street(point, STREET_M)
    if street:
        found.append(matches.of_street(street, street.number_at(point)))
    town = settlements.nearest(point, TOWN_M)
    if town:
        found.append(matches.of_town(town))
    state = town or settlements.nearest(point, COUNTRY_M)
    if state and state.region and state.country in matches.POSTAL_FIRST_STATES:
        found.append(matches.of_region(state.country, state.region))
    if state:
        found.append(matches.of_country(state.country))
    elif point.lat < -60:
        found.append(matches.of_country("AQ"))
    return found


def nearest_street(point: Point, most_m: float) -> Street | None:
    """The street nearest to a position."""
    best: tuple[float, Street] | None = None
    for street in streets():
        if abs(street.middle.lat - point.lat) > 0.1:
            continue
        if geo.distance(street.middle, point) > street.length / 2 + most_m:
            continue
        off = street.distance(point)
        if off <= most_m and (best is None or off < best[0]):
            best = (off, street)
    return best[1] if best else None
