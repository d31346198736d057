"""Other routes that make sense in some families only: another tool, one call for several, another spelling."""

import re
import unicodedata
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from m3bench.tasks.plan import Plan
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import JSON, Call
from tests.server.scoring.routes.route import Route, Steps, changed, demanded, first, joined, with_arguments

MODES = {"DRIVE": "driving", "WALK": "walking", "BICYCLE": "bicycling"}


def of(name: str, change: Callable[[Call], Call | None], *families: str) -> Route:
    """A route that changes single calls."""
    return Route(name=name, build=lambda task, plan: changed(task, change), families=frozenset(families) or None)


def built(name: str, build: Callable[[Task, Plan], Steps | None], *families: str) -> Route:
    """A route that builds the whole."""
    return Route(name=name, build=build, families=frozenset(families) or None)


def text_search(call: Call) -> Call | None:
    if call.tool != "google-maps/geocode":
        return None
    return Call(tool="google-maps/places_text_search", arguments={"query": call.arguments["address"]})


def fewer_digits(call: Call) -> Call | None:
    """Positions as far as a map shows them: to ten metres."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: round(one, 4) if name in ("latitude", "longitude") else rounded(one)
                for name, one in value.items()
            }
        return [rounded(one) for one in value] if isinstance(value, list | tuple) else value

    return with_arguments(call, **rounded(dict(call.arguments)))


def directions(call: Call) -> Call | None:
    """The way turn by turn."""
    if call.tool != "google-maps/compute_route" or call.arguments.get("intermediates"):
        return None
    ends = {name: _end(call.arguments[name]) for name in ("origin", "destination")}
    mode = MODES[str(call.arguments.get("travelMode", "DRIVE"))]
    return Call(tool="google-maps/directions_legacy", arguments={**ends, "mode": mode})


def matrix(task: Task, plan: Plan) -> Steps | None:
    """One table of distances for every way."""
    tool = "google-maps/compute_route"
    ways = [c for step in first(task) for c in step if c.tool == tool]
    if any(c.arguments.get("intermediates") for c in ways) or tool in demanded(task):
        return None

    def table(calls: list[Call]) -> list[Call]:
        ends = {
            name: list(dict.fromkeys(_end(call.arguments[end]) for call in calls))
            for name, end in (("origins", "origin"), ("destinations", "destination"))
        }
        mode = MODES[str(calls[0].arguments.get("travelMode", "DRIVE"))]
        return [Call(tool="google-maps/distance_matrix", arguments={**ends, "mode": mode})]

    return joined(first(task), tool, table)


def _end(value: object) -> str:
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return f"{value['latitude']},{value['longitude']}" if isinstance(value, dict) else str(value)


def in_one_range(task: Task, plan: Plan) -> Steps | None:
    """One question for all days from the first to the last, in the place of one for each."""

    def span(calls: list[Call]) -> list[Call]:
        starts, ends = ([str(call.arguments[name]) for call in calls] for name in ("start_date", "end_date"))
        return [with_arguments(calls[0], start_date=min(starts), end_date=max(ends))]

    steps: Steps | None = first(task)
    for tool in ("nasa-mcp/get_solar_flare", "nasa-mcp/get_coronal_mass_ejection"):
        steps = joined(steps, tool, span) if steps else None
    return steps


def without_tool(tool: str) -> Callable[[Task, Plan], Steps | None]:
    """Leaves out a tool whose facts another call tells anyway."""

    def build(task: Task, plan: Plan) -> Steps | None:
        steps = [[call for call in step if call.tool != tool] for step in first(task)]
        left = sum(map(len, first(task))) - sum(map(len, steps))
        return steps if left and tool not in demanded(task) else None

    return build


def written_in_parts(task: Task, plan: Plan) -> Steps | None:
    """Writes every row of a table by itself, one below the other."""
    steps: Steps = []
    for step in first(task):
        parts = [c for c in step if c.tool == "excel/write_data_to_excel"]
        steps.append([call for call in step if call not in parts])
        for call in parts:
            rows = call.arguments["data"]
            assert isinstance(rows, list)
            for at, row in enumerate(rows, 1):
                steps[-1].append(with_arguments(call, data=[row], start_cell=f"A{at}"))
    return steps


def other_headings(call: Call) -> Call | None:
    rows = call.arguments.get("data")
    if call.tool != "excel/write_data_to_excel" or not isinstance(rows, list):
        return None
    return with_arguments(call, data=[[f"{cell} " for cell in rows[0]], *sorted(rows[1:], key=str)])


def drawn_one_by_one(task: Task, plan: Plan) -> Steps | None:
    """Draws every stroke by itself, each on the picture that the one before left."""
    steps: Steps = []
    split = False
    for step in first(task):
        steps.append([])
        for call in step:
            strokes = call.arguments.get("arrows") or call.arguments.get("texts")
            if not isinstance(strokes, list) or len(strokes) < 2:
                steps[-1].append(call)
                continue
            split, source = True, call.arguments["input_path"]
            name = "arrows" if "arrows" in call.arguments else "texts"
            for at, stroke in enumerate(strokes):
                target = call.arguments["output_path"] if at == len(strokes) - 1 else f"./media/part-{name}-{at}.png"
                parts = {"input_path": source, name: [stroke], "output_path": target}
                steps[-1 if not at else len(steps) :] = (
                    [[*steps[-1], Call(tool=call.tool, arguments=parts)]]
                    if not at
                    else [[Call(tool=call.tool, arguments=parts)]]
                )
                source = target
    return steps if split else None


def plain_letters(call: Call) -> Call | None:
    """Names without accents."""
    changed_texts = {
        name: "".join(c for c in unicodedata.normalize("NFKD", value) if not unicodedata.combining(c))
        for name, value in call.arguments.items()
        if isinstance(value, str) and name in ("address", "location", "query", "title", "q", "keywords", "topic")
    }
    return with_arguments(call, **changed_texts)


def all_styles(call: Call) -> Call | None:
    if call.tool != "hugeicons-mcp/get_icon_glyph_by_style":
        return None
    return Call(tool="hugeicons-mcp/get_icon_glyphs", arguments={"icon_name": call.arguments["icon_name"]})


def more(**amounts: JSON) -> Callable[[Call], Call | None]:
    """Asks for more than is needed."""

    def change(call: Call) -> Call | None:
        given = {name: value for name, value in amounts.items() if name in call.arguments}
        return with_arguments(call, **given) if given else None

    return change


def prices_of_a_month(call: Call) -> Call | None:
    """Prices of some days before and after those that are needed."""
    if call.tool != "yahoo-finance/get_historical_stock_prices":
        return None
    begin, end = (date.fromisoformat(str(call.arguments[name])) for name in ("start_date", "end_date"))
    return with_arguments(
        call,
        start_date=(begin - timedelta(days=14)).isoformat(),
        end_date=(end + timedelta(days=14)).isoformat(),
    )


def without_argument(tool: str, name: str) -> Callable[[Call], Call | None]:
    return lambda call: with_arguments(call, **{name: None}) if call.tool == tool else None


def added_in_pairs(task: Task, plan: Plan) -> Steps | None:
    """Adds two numbers at a time."""
    steps: Steps = []
    split = False
    for step in first(task):
        sums = [call for call in step if call.tool == "math/sum"]
        steps.append([call for call in step if call not in sums])
        for call in sums:
            numbers = call.arguments["numbers"]
            assert isinstance(numbers, list)
            if len(numbers) == 2:
                pair = {"firstNumber": numbers[0], "secondNumber": numbers[1]}
                steps[-1].append(Call(tool="math/add", arguments=pair))
                split = True
            else:
                steps[-1].append(call)
    return steps if split else None


def grey_before_cut(task: Task, plan: Plan) -> Steps | None:
    """Takes the colour out of the whole picture once, and cuts the pieces from that."""
    calls = [call for step in first(task) for call in step]
    cuts = [call for call in calls if call.tool == "imagesorcery-mcp/crop"]
    greys = {call.arguments.get("input_path"): call for call in calls if call.tool == "imagesorcery-mcp/change_color"}
    after = [greys.get(call.arguments["output_path"]) for call in cuts]
    if not cuts or None in after or len(greys) != len(cuts):
        return None
    whole = "./media/without-colour.png"
    grey = with_arguments(next(iter(greys.values())), input_path=cuts[0].arguments["input_path"], output_path=whole)
    new = [
        with_arguments(cut, input_path=whole, output_path=later.arguments["output_path"])
        for cut, later in zip(cuts, after, strict=True)
        if later is not None
    ]
    rest = [call for call in calls if call not in cuts and call not in greys.values()]
    looks = [call for call in rest if call.tool.startswith("dinox-mcp/detect")]
    return [looks, [grey, *(call for call in rest if call not in looks)], new]


def longer_history(call: Call) -> Call | None:
    return with_arguments(call, limit=30) if call.tool == "nixos/nixhub_package_versions" else None


def small_letters(call: Call) -> Call | None:
    query = str(call.arguments.get("query", ""))
    return with_arguments(call, query=query.lower()) if query != query.lower() else None


def by_title(call: Call) -> Call | None:
    """A paper asked for by the field of its title."""
    query = str(call.arguments.get("query", ""))
    if call.tool != "paper_search/search_arxiv" or ":" in query:
        return None
    return with_arguments(call, query=f'ti:"{query}"')


def in_ounces(call: Call) -> Call | None:
    """A portion weighed in ounces."""
    grams = re.fullmatch(r"(\d+(?:\.\d+)?) g (.+)", str(call.arguments.get("query", "")))
    if call.tool != "food_nutrition_mcp/get_nutrition" or grams is None:
        return None
    return with_arguments(call, query=f"{float(grams[1]) / 28.349523125:.5g} oz {grams[2]}")


def in_kilograms(call: Call) -> Call | None:
    """A portion weighed in kilograms."""
    grams = re.fullmatch(r"(\d+(?:\.\d+)?) g (.+)", str(call.arguments.get("query", "")))
    if call.tool != "food_nutrition_mcp/get_nutrition" or grams is None:
        return None
    return with_arguments(call, query=f"{float(grams[1]) / 1000:g} kg {grams[2]}")


def ten_digits(call: Call) -> Call | None:
    """A book by the older form of its number."""
    isbn = str(call.arguments.get("isbn", ""))
    if not (isbn.startswith("978") and len(isbn) == 13):
        return None
    check = -sum(int(digit) * (10 - at) for at, digit in enumerate(isbn[3:12])) % 11
    return with_arguments(call, isbn=f"{isbn[3:12]}{'X' if check == 10 else check}")


def other_degrees(call: Call) -> Call | None:
    """The weather in the other unit, converted by head."""
    units = {"us": "metric", "metric": "us"}.get(str(call.arguments.get("units", "")))
    return with_arguments(call, units=units) if call.tool == "weather/get_weather" and units else None


def one_by_one(task: Task, plan: Plan) -> Steps | None:
    """Every place of a list asked for alone."""
    found, split = [], False
    for step in first(task):
        calls = []
        for call in step:
            places = call.arguments.get("locations")
            several = isinstance(places, list | tuple) and len(places) > 1
            calls += [with_arguments(call, locations=[place]) for place in places] if several else [call]
            split |= several
        found.append(calls)
    return found if split else None


MET = "metmuseum-mcp/search-museum-objects"

SPECIAL = (
    of("the map searched for names", text_search, "attraction", "movies", "travel_comparison", "heatmap", "routine"),
    of("the way turn by turn", directions, "attraction", "camping", "fish", "travel_comparison"),
    of("positions to ten metres", fewer_digits, "routine", "travel_comparison"),
    built("one table of distances", matrix, "attraction"),
    built("one question for all days", in_one_range, "research_station"),
    built("no details after a search", without_tool("google-maps/place_details"), "movies", "research_station"),
    of("a longer history", longer_history, "nixos_diagnostic"),
    built("articles without a search", without_tool("wiki/search"), "museum", "biology_chain"),
    built("a table row by row", written_in_parts, "items_price", "drug", "med_excel", "food_reddit_wiki_excel"),
    of("other headings, rows in another order", other_headings, "items_price", "drug", "med_excel", "research_station"),
    built("strokes one by one", drawn_one_by_one, "hazard", "biology_chain"),
    of("names in plain letters", plain_letters, "attraction", "heatmap", "qr_attraction", "museum"),
    of("glyphs in all styles", all_styles, "hugeicons"),
    of("more results than needed", more(n=3, limit=8, max_results=6)),
    of("a longer look ahead", more(hours=90), "heatmap"),
    of("ratings of a longer time", more(months_back=9), "stock_growth"),
    of("prices of more days", prices_of_a_month, "stock_growth"),
    of("museum searched without the department", without_argument(MET, "departmentId"), "museum"),
    of("papers by the field of their title", by_title, "vision_research"),
    of("names in small letters", small_letters, "vision_research"),
    built("two numbers added", added_in_pairs, "barcode_lookup"),
    of("portions in ounces", in_ounces, "fruit_cal"),
    of("portions in kilograms", in_kilograms, "fruit_cal"),
    of("books by ten digits", ten_digits, "barcode_lookup"),
    of("the other degrees", other_degrees, "heatmap", "travel_comparison", "routine"),
    built("heights one by one", one_by_one, "routine"),
    built("colour taken out before cutting", grey_before_cut, "biology_cut"),
)
