"""Which argument of which tool has an effect, shown by two calls that differ in nothing else.

    python -m tests.sandboxes.servers.arguments [SERVER ...]

writes `arguments.json` anew, all of it or the named servers' part; look at the change before it is committed. For each
argument it has two values whose answers or files differ, or one value that is refused where the example's is not. What
an answer only repeats of the argument itself does not count. null stands for what could not be shown.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from m3bench.tasks.catalog import Server, Tool, load_catalog
from tests.sandboxes.servers.manifest import Before, Bench

FILE = Path(__file__).with_name("arguments.json")


def _at(latitude: float, longitude: float) -> dict[str, Any]:
    return {"location": {"latLng": {"latitude": latitude, "longitude": longitude}}}


LEFT_OUT = {"left": "out"}
"""Stands for no value at all."""

SECOND = {
    "ticker": "MSFT", "instrument": "ETH-USDT", "asin": "0262033844", "isbn": "9780553293357", "drug_name": "ibuprofen",
    "parkCode": "zion", "name": "git", "package_name": "git", "amazon_domain": "amazon.de", "rover_name": "opportunity",
    "fields": "places.id,id", "timestamp": 1719792000, "year": "2017", "holder_type": "institutional_holders",
    "financial_type": "balance_sheet", "option_type": "puts", "interval": "1wk", "start_date": "2024-03-04",
    "end_date": "2024-03-15", "language": "deu", "n": 2, "title": "Foundation", "paper_id": "1706.03762",
    "protection": {"locked": False}, "q": "hike", "chart_type": "line", "operation": "get", "text": "Go on",
    "conditional_format": {"type": "color_scale", "params": {"start_type": "min", "start_color": "FFFFFF",
                                                             "end_type": "max", "end_color": "FF0000"}},
    "image_paths": {"image": "none.png"}, "regionCode": "US",
    "columns": ["Product"],
    "color_scheme": "warm_red", "food": "apple", "region": "us", "description": "asthma", "author": "Isaac Asimov",
}  # fmt: skip
"""Values that arguments of these names may have, where it takes a real one."""

WITH: dict[str, dict[str, Any]] = {
    "excel/format_range bold": {"start_cell": "A2", "end_cell": "B3"},
    "excel/format_range conditional_format": {"start_cell": "B2", "end_cell": "C6"},
    "food_nutrition_mcp/get_nutrition food": {"query": LEFT_OUT},
    "google-maps/compute_route optimizeWaypointOrder": {
        "origin": _at(48.8566, 2.3522),
        "destination": _at(45.764, 4.8357),
        "intermediates": [_at(45.7772, 3.087), _at(47.322, 5.0415), _at(48.2973, 4.0744)],
        "fields": LEFT_OUT,
    },
    "google-maps/geocode region": {"address": "Cambridge"},
    "google-maps/timezone timestamp": {"lat": 48.1374, "lng": 11.576},
    "healthcare-mcp/lookup_icd_code description": {"code": LEFT_OUT},
    "healthcare-mcp/medrxiv_search max_results": {"query": "infection"},
    "healthcare-mcp/ncbi_bookshelf_search max_results": {"query": "disease"},
    "metmuseum-mcp/search-museum-objects hasImages": {"q": "portrait", "departmentId": LEFT_OUT},
    "openlibrary_mcp/get_book_info author": {"isbn": LEFT_OUT, "title": "Foundation"},
    "openlibrary_mcp/get_book_info title": {"isbn": LEFT_OUT},
    "paper_search/search_crossref max_results": {"query": "learning"},
    "paper_search/search_google_scholar max_results": {"query": "learning"},
    "paper_search/search_iacr max_results": {"query": "encryption"},
    "paper_search/search_pubmed max_results": {"query": "cancer"},
    "paper_search/search_semantic max_results": {"query": "learning", "year": LEFT_OUT},
    "ppt/add_slide color_scheme": {"background_colors": LEFT_OUT},
    "ppt/apply_professional_design apply_to_existing": {"operation": "theme"},
    "ppt/apply_professional_design enhance_charts": {"operation": "enhance", "slide_index": 1},
    "ppt/apply_professional_design enhance_content": {"operation": "enhance", "slide_index": 0},
    "ppt/apply_professional_design enhance_shapes": {"operation": "enhance", "slide_index": 0},
    "ppt/apply_professional_design enhance_title": {"operation": "enhance", "slide_index": 1},
    "ppt/apply_professional_design slide_index": {"operation": "enhance"},
    "ppt/manage_fonts presentation_type": {"operation": "recommend"},
    "ppt/manage_hyperlinks text": {"operation": "add"},
    "ppt/manage_image output_path": {"operation": "enhance"},
    "ppt/manage_slide_masters layout_index": {"operation": "get_info"},
    "ppt/manage_text shape_index": {"operation": "format"},
    "ppt/manage_text validation_only": {"operation": "validate", "shape_index": 0},
    "ppt/optimize_slide_text auto_wrap": {"slide_index": 2},
    "wiki/search n": {"query": "war"},
}
"""What else a call needs before an argument can change anything, where the example does not have it."""

_SHAPE = {"slide_index": 0, "shape_type": "rectangle", "left": 1, "top": 1, "width": 2, "height": 1, "text": "A b c"}
BEFORE: dict[str, list[tuple[str, Mapping[str, Any]]]] = {
    "ppt/apply_professional_design enhance_shapes": [("ppt/add_shape", _SHAPE)],
    "ppt/optimize_slide_text auto_wrap": [("ppt/create_slide_from_template", {"template_id": "text_with_image"})],
}
"""Calls that are made before, where something must be there that an argument is about."""

_ONE_LANGUAGE = "the frozen world has each name in one language"
_NO_FILE = "the text is answered, and no file is kept"
_NONE_TO_HAVE = "the service gives no files away"
WITHOUT_EFFECT = {
    "excel/read_data_from_excel preview_only": "the tool takes it and does not use it",
    "google-maps/geocode language": _ONE_LANGUAGE,
    "google-maps/places_nearby_search languageCode": _ONE_LANGUAGE,
    "google-maps/places_nearby_search regionCode": "the circle alone decides",
    "google-maps/places_text_search fields": "the tool takes it and does not use it",
    "google-maps/places_text_search languageCode": _ONE_LANGUAGE,
    "google-maps/places_text_search regionCode": "the place in the query or the bias alone decides",
    "google-maps/reverse_geocode language": _ONE_LANGUAGE,
    "nasa-mcp/get_astronomy_picture_of_day thumbs": "it is about films, and the frozen world has only pictures",
    "nasa-mcp/get_earth_imagery cloud_score": "the tool takes it and does not use it",
    "nixos/nixos_flakes_search channel": "the tool takes it and does not use it",
    "paper_search/download_crossref save_path": _NONE_TO_HAVE,
    "paper_search/download_pubmed save_path": _NONE_TO_HAVE,
    "paper_search/read_crossref_paper save_path": _NO_FILE,
    "paper_search/read_pubmed_paper save_path": _NO_FILE,
}
"""Arguments that change nothing, and why."""

REPEATED = "\0repeated"

Values = list[Any]


def read() -> dict[str, dict[str, Any]]:
    """The table as it is committed: tool to argument to what shows its effect."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_bytes())
    return found


class Pairs(Bench):
    """A server whose tools are called with pairs of values; a call that comes again is not made again."""

    def __init__(self, server: str, folder: Path) -> None:
        super().__init__(server, folder)
        self._known: dict[str, dict[str, Any]] = {}

    async def call(self, tool: Tool, arguments: Mapping[str, Any], before: Before = ()) -> dict[str, Any]:
        """Outcome, result and the files that were written, by hash."""
        key = f"{tool.name} {json.dumps(arguments)} {len(before)}"
        if key not in self._known:
            self._known[key] = await super().call(tool, arguments, before)
        return self._known[key]

    async def differs(self, tool: Tool, name: str, values: Values) -> str:
        """How the answers to two values differ: `answer`, `refused`, or not at all."""
        found = []
        for value in values:
            about = WITH.get(f"{tool.qualified} {name}", {})
            arguments = {**self.examples.calls[tool.name], **about, name: value}
            sent = {key: one for key, one in arguments.items() if one != LEFT_OUT}
            made = await self.call(tool, sent, BEFORE.get(f"{tool.qualified} {name}", ()))
            shown = _without(made["result"], name, values) if made["outcome"] == "success" else None
            found.append({**made, "result": shown})
        if found[0] == found[1]:
            return ""
        return "answer" if {one["outcome"] for one in found} == {"success"} else "refused"


async def shown(bench: Pairs, tool: Tool) -> dict[str, Any]:
    """What shows the effect of each argument of a tool."""
    table: dict[str, Any] = {}
    for name, schema in tool.input_schema.get("properties", {}).items():
        first = bench.examples.calls[tool.name].get(name, LEFT_OUT)
        values = [first, *_others(name, schema, first)]
        given = [value for value in values if value != LEFT_OUT]
        pairs = [[given[0], value] for value in given[1:]] + [[LEFT_OUT, value] for value in given]
        hows = {json.dumps(pair): await bench.differs(tool, name, pair) for pair in pairs}
        best = next((pair for how in ("answer", "refused") for pair in pairs if hows[json.dumps(pair)] == how), None)
        table[name] = best
    return table


def _others(name: str, schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
    """Other values than the example's, the likeliest first."""
    kinds = {*_kinds(schema), *(kind for one in schema.get("anyOf", ()) for kind in _kinds(one))}
    yield from (choice for choice in schema.get("enum", ()) if choice != value)
    if name in SECOND:
        yield SECOND[name]
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value * 2, max(0, value // 2), 1, 2)
        case str():
            yield from (f"1{value}", value[: len(value) // 2], "Paris")
        case list():
            yield from (value[:-1], [*value, *value[:1]], value[::-1])
        case dict() if value != LEFT_OUT:
            yield from ({key: one for key, one in value.items() if key != left} for left in value)
        case _ if "boolean" in kinds:
            yield from (True, False)
        case _ if kinds & {"integer", "number"}:
            yield from (1, 2, 5, 20, 100)
        case _ if "string" in kinds:
            yield from ("en", "de", "1", "Arial", "2024-01-01", "#FF0000", "A1", "Sheet1")
        case _ if "array" in kinds:
            yield from (["1"], [[1, 2, 3]], [200, 30, 30], [255, 0, 0])


def _kinds(schema: Mapping[str, Any]) -> Iterable[str]:
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else kind


def _without(result: Any, name: str, values: Values) -> Any:
    """A result without what it repeats of an argument: fields of its name, and the values, whichever was sent."""
    told = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values]
    words = re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in told if one))

    def walk(part: Any) -> Any:
        match part:
            case dict():
                left = {key: walk(one) for key, one in part.items() if _plain(key) != _plain(name)}
                return {key: one for key, one in left.items() if one != REPEATED}
            case list():
                return [walk(one) for one in part]
            case str():
                try:
                    inner = json.loads(part)
                except ValueError:
                    inner = None
                return walk(inner) if isinstance(inner, dict | list) else words.sub(REPEATED, part)
            case int() | float() if not isinstance(part, bool) and part in values:
                return REPEATED
        return part

    return walk(result)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


async def table_of(server: Server) -> dict[str, dict[str, Any]]:
    """The part of the table that is a server's."""
    with TemporaryDirectory(prefix="m3bench-") as folder:
        bench = Pairs(server.name, Path(folder))
        await bench.prepare()
        return {tool.qualified: await shown(bench, tool) for tool in server.tools}


def main(names: list[str]) -> None:
    """Write the table."""
    table = read() if FILE.exists() else {}
    for server in load_catalog().ready.servers:
        if not names or server.name in names:
            table |= anyio.run(table_of, server)
            print(server.name, flush=True)
    lines = ",\n".join(f"{json.dumps(tool)}: {json.dumps(table[tool], ensure_ascii=False)}" for tool in sorted(table))
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
