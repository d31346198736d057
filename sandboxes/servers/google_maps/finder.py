"""Finds places for a free text: by name, or by kind around a point."""

import re

from rapidfuzz import fuzz

from m3bench.sandboxes.servers.google_maps import geocoder, known, matches, wording
from m3bench.sandboxes.servers.google_maps.matches import Match
from m3bench.sandboxes.servers.google_maps.wording import Wish
from m3bench.sandboxes.world import geo, places, settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.places import Place
from m3bench.sandboxes.world.search import fold

FARTHEST_M = 60_000.0
_BEST = re.compile(r"\b(best|top|good|great|recommended|highly)\b", re.I)
_NEAREST = re.compile(r"\b(nearest|closest)\b", re.I)


def find(query: str, centre: Point | None, radius_m: float, region: str | None) -> list[Place | Match]:
    """What a text asks for, best first: places, or a town when the text is one.

    Args:
        query: The text.
        centre: Where to look first; None when the caller did not say.
        radius_m: How far around it.
        region: Two-letter code of the country to prefer.
    """
    found = _found(query, centre, radius_m, region)
    spot = None if found else known.exactly(query)
    return [spot] if spot else found


def _found(query: str, centre: Point | None, radius_m: float, region: str | None) -> list[Place | Match]:
    wish = wording.understand(query)
    if not wish.kinds:
        return _named(query, centre, region)
    if wish.name:
        found = _by_whole_name(query, wish, centre, region)
        if found:
            return found
    where, reach = _where(wish, centre, radius_m, region)
    if where is None:
        if wish.where or wish.name:
            return _exactly(query, region)
        return list(_famous(wish))
    return _called_first(query, list(_of_kind(query, wish, where, reach)))


def _called_first(query: str, found: list[Place]) -> list[Place | Match]:
    """Places of a kind, behind the one whose name and town the text is: the Echo Park Lodge is no park."""
    name, comma, _ = query.partition(",")
    if not comma or any(fold(place.name) == fold(name) for place in found[:1]):
        return list(found)
    meant = {match.id for match in _exactly(query, None) if isinstance(match, Match) and fold(match.name) == fold(name)}
    called = [place for place in _places_named(name, None, None) if place.id in meant]
    return [*called, *(place for place in found if place not in called)]


def _named(query: str, centre: Point | None, region: str | None) -> list[Place | Match]:
    found: list[Place | Match] = list(_places_named(query, centre, region))
    town = settlements.exact(query)
    if town:
        return [matches.of_town(town), *found]
    if found:
        return found
    return _exactly(query, region)


def _exactly(query: str, region: str | None) -> list[Place | Match]:
    """What the text is the address of."""
    return [match for match in geocoder.geocode(query, region) if not match.partial]


def _places_named(query: str, centre: Point | None, region: str | None) -> list[Place]:
    scored = []
    for score, place in places.find(query, 30):
        about = max(fuzz.token_set_ratio(fold(query), fold(name)) for name in (place.name, *place.aliases))
        if score < 0.55 or about < 70:
            continue
        if centre is not None:
            score += 0.15 / (1 + geo.distance(centre, place.point) / 5000)
        if region and region.upper() in (place.country, "UK" if place.country == "GB" else ""):
            score += 0.03
        scored.append((-score, place.id, place))
    scored.sort(key=lambda entry: entry[:2])
    best = -scored[0][0] if scored else 0.0
    return [place for score, _, place in scored if -score >= best - 0.25]


def _by_whole_name(query: str, wish: Wish, centre: Point | None, region: str | None) -> list[Place | Match]:
    """A name that contains a kind: Museum of Modern Art, Hotel Belleclaire."""
    what = query[: -len(wish.where)] if wish.where and query.endswith(wish.where) else query
    what = re.sub(r"\s*\b(near|in|at|around|by)\s*$", "", what.strip(" ,"), flags=re.I)
    return [place for place in _places_named(what, centre, region) if _is_name(what, place)]


def _is_name(text: str, place: Place) -> bool:
    """Whether every word of a place's name is in the text, or nearly so; `Italian restaurant Rome` is no name."""
    wanted = fold(text)
    return any(
        fuzz.token_sort_ratio(wanted, fold(name)) >= 72
        or (len(name) > 7 and fuzz.token_set_ratio(wanted, fold(name)) >= 97)
        for name in (place.name, *place.aliases)
    )


def _where(wish: Wish, centre: Point | None, radius_m: float, region: str | None) -> tuple[Point | None, float]:
    text = wish.where or ("" if centre is not None else wish.name)
    if text:
        point = geocoder.coordinates(text)
        if point is not None:
            return point, max(radius_m, 5000.0)
        matched = geocoder.geocode(text, region)
        if matched and (wish.where or not matched[0].partial):
            return matched[0].point, max(3000.0, 1.3 * matched[0].reach_m)
    return centre, radius_m


def _of_kind(query: str, wish: Wish, centre: Point, radius_m: float) -> list[Place]:
    wide = max(FARTHEST_M, radius_m)
    around = [(off, place) for off, place in places.within(centre, wide) if set(wish.kinds) & set(place.types)]
    inside = [entry for entry in around if entry[0] <= radius_m]
    outside = [entry for entry in around if radius_m < entry[0] <= max(3 * radius_m, 6000.0)]
    if not inside and not outside:
        outside = around[:10]
    if _NEAREST.search(query):
        return [place for _, place in (*inside, *outside)]
    keen = 2.0 if _BEST.search(query) else 1.0
    inside.sort(key=lambda entry: (-_worth(entry[1], keen) + 0.6 * entry[0] / radius_m, entry[1].id))
    return [place for _, place in (*inside, *outside)]


def _worth(place: Place, keen: float) -> float:
    return 0.6 * place.fame + keen * 0.5 * ((place.rating or 3.5) - 3)


def _famous(wish: Wish) -> list[Place]:
    """The best known of a kind anywhere, when nobody said where."""
    fitting = [place for place in places.places() if set(wish.kinds) & set(place.types)]
    return sorted(fitting, key=lambda place: (-place.fame, place.id))[:20]
