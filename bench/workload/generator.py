"""Reference trajectories and runs, made up by a seed.

Sizes follow the public set: about seven calls a task in three steps, texts of 45 tokens in the mean and up to 256, four
tools a task, many calls of one tool. Runs stray as agents do; about a third of the texts of a set need no embedding.
"""

import json
import random
from itertools import chain
from typing import Any

from m3bench.tasks.trajectory import Call, Step, Trajectory
from m3bench.tasks.trajectory_files import TaskTrajectories

PLACES = (
    "Portland",
    "Austin",
    "Savannah",
    "Duluth",
    "Santa Fe",
    "Burlington",
    "Boise",
    "Key West",
    "Astoria",
    "Galena",
)
THINGS = (
    "oat milk", "running shoes", "desk lamp", "olive oil", "trail map", "rain jacket", "coffee grinder", "garden hose",
    "travel mug", "wool socks", "bike pump", "paper towels", "cast iron pan", "phone charger", "sea salt", "dish soap",
)  # fmt: skip
KINDS = (
    "organic", "large", "compact", "refillable", "vintage", "waterproof", "lightweight", "classic", "premium", "blue",
)  # fmt: skip
TOPICS = (
    "lighthouse", "great blue heron", "solar flare", "suspension bridge", "basalt column", "steam engine", "barn owl",
    "tidal pool", "star chart", "clay amphora", "mountain goat", "covered market", "glass frog", "river delta",
)  # fmt: skip


class Generator:
    """Reference trajectories shaped like the public set's, and runs that stray from them as agents do."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._makers = [
            (self._shop, 5), (self._summary, 4), (self._search, 3), (self._geocode, 3), (self._weather, 2),
            (self._nearby, 3), (self._route, 2), (self._crop, 4), (self._price, 3), (self._papers, 3),
            (self._circles, 1), (self._sheet, 1), (self.details, 2),
        ]  # fmt: skip

    def tasks(self, count: int) -> tuple[list[TaskTrajectories], list[TaskTrajectories]]:
        """References and runs of that many tasks."""
        references, runs = [], []
        for number in range(count):
            reference = self._reference()
            name, family = f"task-{number:05d}", f"family-{number % 28:02d}"
            references.append(TaskTrajectories(id=name, family=family, trajectories=(reference,)))
            runs.append(TaskTrajectories(id=name, family=family, trajectories=(self.stray(reference),)))
        return references, runs

    def stray(self, reference: Trajectory) -> Trajectory:
        """The reference with calls changed, dropped, repeated and added, and steps split, merged and turned round."""
        if self.random.random() < 0.03:
            return Trajectory()
        steps = []
        for step in reference.steps:
            calls: list[Call] = []
            for call in step.calls:
                chance = self.random.random()
                if chance < 0.14:
                    continue
                calls.append(self._change(call) if chance < 0.44 else call)
                if chance > 0.95:
                    calls.append(calls[-1])
                elif chance > 0.86:
                    calls.append(self._call())
            steps.append(calls)
        chance = self.random.random()
        if chance < 0.15:
            steps = [[call] for calls in steps for call in calls]
        elif chance < 0.28:
            steps = [list(chain(*steps[place : place + 2])) for place in range(0, len(steps), 2)]
        elif chance < 0.36:
            steps.reverse()
        elif chance < 0.42:
            self.random.shuffle(steps)
        return Trajectory(steps=tuple(Step(calls=tuple(calls)) for calls in steps))

    def _reference(self) -> Trajectory:
        steps = []
        for _ in range(self.random.choices((1, 2, 3, 4, 5, 6), (15, 18, 30, 20, 12, 5))[0]):
            size = self.random.choices((1, 2, 3, 4, 5, 6, 10), (52, 20, 10, 8, 6, 3, 1))[0]
            makers = self._pick(1 if self.random.random() < 0.6 else size)
            steps.append(Step(calls=tuple(makers[place % len(makers)]() for place in range(size))))
        return Trajectory(steps=tuple(steps))

    def _pick(self, count: int) -> list[Any]:
        makers, weights = zip(*self._makers, strict=True)
        return self.random.choices(makers, weights, k=count)

    def _call(self) -> Call:
        call: Call = self._pick(1)[0]()
        return call

    def _change(self, call: Call) -> Call:
        arguments: dict[str, Any] = json.loads(json.dumps(call.arguments))
        name = self.random.choice(list(arguments))
        value = arguments[name]
        chance = self.random.random()
        if chance < 0.12 and len(arguments) > 1:
            del arguments[name]
        elif isinstance(value, str) and chance < 0.7:
            words = value.split(" ")
            words[self.random.randrange(len(words))] = self.random.choice(KINDS)
            arguments[name] = " ".join(words) if chance < 0.5 else f"{value} {self.random.choice(PLACES)}"
        elif isinstance(value, int | float):
            arguments[name] = value + self.random.choice((-1, 1, 5, 10))
        else:
            return Call(tool=call.tool, arguments=dict(self._same_tool(call.tool).arguments))
        return Call(tool=call.tool, arguments=arguments)

    def _same_tool(self, tool: str) -> Call:
        return next(call for call in (maker() for maker, _ in self._makers) if call.tool == tool)

    def _thing(self) -> str:
        return f"{self.random.choice(KINDS)} {self.random.choice(THINGS)} {self.random.randint(1, 40)} oz"

    def _position(self) -> dict[str, float]:
        return {
            "latitude": round(self.random.uniform(25, 48), 6),
            "longitude": round(self.random.uniform(-123, -70), 6),
        }

    def _shop(self) -> Call:
        return _make("amazon/search_products", keywords=self._thing(), n=self.random.randint(1, 5), page=1)

    def _summary(self) -> Call:
        return _make("wiki/summary", title=f"{self.random.choice(TOPICS)} of {self.random.choice(PLACES)}")

    def _search(self) -> Call:
        return _make("wiki/search", query=f"{self.random.choice(TOPICS)} {self.random.choice(PLACES)}", n=5)

    def _geocode(self) -> Call:
        address = f"{self.random.randint(1, 900)} Main St, {self.random.choice(PLACES)}"
        return _make("google-maps/geocode", address=address)

    def _weather(self) -> Call:
        return _make("weather/get_weather", location=self.random.choice(PLACES), units="us")

    def _nearby(self) -> Call:
        kinds = self.random.sample(("restaurant", "lodging", "museum", "supermarket", "park"), 2)
        return _make(
            "google-maps/places_nearby_search",
            location=self._position(),
            radiusMeters=self.random.randint(1, 9) * 500,
            includedTypes=kinds,
            languageCode="en",
        )

    def _route(self) -> Call:
        return _make(
            "google-maps/compute_route",
            origin={"latLng": self._position()},
            destination={"latLng": self._position()},
            travelMode="DRIVE",
            fields="routes.distanceMeters,routes.duration,routes.polyline.encodedPolyline",
        )

    def _crop(self) -> Call:
        x, y = self.random.randint(0, 900), self.random.randint(0, 700)
        name = self.random.choice(TOPICS).replace(" ", "_")
        return _make(
            "imagesorcery-mcp/crop",
            input_path=f"media/{name}.png",
            x1=x,
            y1=y,
            x2=x + 200,
            y2=y + 150,
            output_path=f"media/{name}_crop.png",
        )

    def _price(self) -> Call:
        return _make("okx/get_candlesticks", instrument=f"{self.random.choice(THINGS)[:3].upper()}-USDT", bar="1H")

    def _papers(self) -> Call:
        query = f"{self.random.choice(TOPICS)} detection in {self.random.choice(KINDS)} images"
        return _make("paper_search/search_arxiv", query=query, max_results=self.random.randint(1, 5))

    def _circles(self) -> Call:
        circles = [
            {"center_x": self.random.randint(0, 900), "center_y": self.random.randint(0, 700), "radius": 40,
             "color": [0, 0, 255], "thickness": 3, "filled": False}
            for _ in range(self.random.randint(2, 8))
        ]  # fmt: skip
        return _make("imagesorcery-mcp/draw_circles", input_path="media/site.png", circles=circles)

    def _sheet(self) -> Call:
        rows = [[self._thing(), self.random.randint(1, 90)] for _ in range(self.random.randint(3, 12))]
        return _make("excel/write_data_to_excel", filepath="out.xlsx", sheet_name="Sheet1", data=rows)

    def details(self) -> Call:
        letters = "".join(self.random.choices("ABCDEFGHabcdefgh0123456789", k=23))
        return _make("google-maps/place_details", place_id=f"ChIJ{letters}")


def _make(tool: str, **arguments: Any) -> Call:
    return Call(tool=tool, arguments=arguments)
