"""Words for places: parks, addresses, heights, air, time and ways."""

from m3bench.server.authoring.synthesis.lexicon import Ask, Harvest, Option, Pick, Start, Words

_CITIES = (
    (48.8584, 2.2945), (51.5055, -0.0754), (40.7484, -73.9857), (41.8902, 12.4922), (35.6586, 139.7454),
    (37.8199, -122.4783), (-33.8568, 151.2153), (52.5163, 13.3777), (41.4036, 2.1744), (55.9486, -3.1999),
)  # fmt: skip

_HEIGHT = Ask("elevation", "its height above sea level in metres", "number", "the heights", 1.0, ("mean", "subtract"))

WORDS = (
    Words(
        "nationalparks/findParks",
        start=Start(
            "q",
            "National park",
            "national park",
            "national parks",
            {"limit": 1},
            "name",
            Harvest("nationalparks/findParks", ({"limit": 50}, {"limit": 50, "start": 50}), "name"),
            source="in the park service's listing",
        ),
        asks=(Ask("contacts.phoneNumbers.0.number", "the park's phone number"),),
    ),
    Words(
        "nationalparks/getCampgrounds",
        start=Start(
            "q",
            "Campground",
            "campground in a national park",
            "campgrounds in national parks",
            {"limit": 1},
            "name",
            Harvest("nationalparks/getCampgrounds", ({"limit": 50}, {"limit": 50, "start": 50}), "name"),
            source="in the park service's listing",
        ),
        asks=(
            Ask("totalSites", "its number of sites", "number", "the numbers of sites", 0.01, ("sum", "mean")),
            Ask("contacts.phoneNumbers.0.number", "its phone number"),
        ),
    ),
    Words(
        "nationalparks/getVisitorCenters",
        start=Start(
            "q",
            "Visitor center",
            "visitor center of a national park",
            "visitor centers of national parks",
            {"limit": 1},
            "name",
            Harvest("nationalparks/getVisitorCenters", ({"limit": 50}, {"limit": 50, "start": 50}), "name"),
            source="in the park service's listing",
        ),
        asks=(Ask("contacts.phoneNumbers.0.number", "its phone number"),),
    ),
    Words(
        "google-maps/geocode",
        start=Start(
            "address",
            "Address",
            "address",
            "addresses",
            harvest=Harvest(
                "google-maps/places_nearby_search",
                tuple(
                    {"location": {"latitude": lat, "longitude": lng}, "radiusMeters": 4000, "includedTypes": [kind]}
                    for lat, lng in _CITIES
                    for kind in ("museum", "lodging")
                ),
                "formattedAddress",
            ),
            name="formatted_address",
            source="on the map",
        ),
    ),
    Words(
        "google-maps/places_nearby_search",
        noun="place",
        name="displayName.text",
        picks=(Pick("rating", "best-rated"), Pick("userRatingCount", "most often reviewed")),
        options=(
            Option({"radiusMeters": 2000, "includedTypes": ["restaurant"]}, "restaurant", "within 2000 metres of it"),
            Option({"radiusMeters": 3000, "includedTypes": ["museum"]}, "museum", "within 3000 metres of it"),
            Option({"radiusMeters": 2500, "includedTypes": ["lodging"]}, "place to stay", "within 2500 metres of it"),
            Option({"radiusMeters": 5000, "includedTypes": ["movie_theater"]}, "cinema", "within 5000 metres of it"),
            Option(
                {"radiusMeters": 30000, "includedTypes": ["lodging"]}, "place to stay", "within 30 kilometres of it"
            ),
        ),
    ),
    Words(
        "google-maps/place_details",
        asks=(
            Ask("internationalPhoneNumber", "the phone number of the place, country code included"),
            Ask("websiteUri", "the web address of the place"),
            Ask("primaryTypeDisplayName.text", "what kind of place it is, as the map says"),
        ),
    ),
    Words("google-maps/elevation_by_locations", asks=(_HEIGHT,)),
    Words(
        "google-maps/timezone",
        asks=(
            Ask("timeZoneId", "the name of the time zone there, in the form Area/City"),
            Ask("timeZoneName", "what the time there is officially called at present"),
        ),
    ),
    Words(
        "google-maps/compute_route",
        asks=(Ask("distanceMeters", "", "number", "", 0.6, scale=0.001),),
        joins="how many kilometres it is by road from the first to the second",
    ),
    Words(
        "google-air/current_conditions",
        asks=(
            Ask(
                "aqi",
                "the air quality index there right now, on the universal scale",
                "number",
                "the air quality indices",
                0.01,
                ("mean", "subtract"),
            ),
            Ask("category", "in which category the air there falls right now"),
        ),
    ),
)
