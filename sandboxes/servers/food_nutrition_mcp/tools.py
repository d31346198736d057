"""The tools of the `food_nutrition_mcp` server: what a described portion of a food contains.

A description is an amount, a measure and a food, as people write them: `2 large eggs`, `half a cup of rice`,
`chicken breast 150g`. Only the first food of a description counts. Failures are ordinary results.
"""

import re

from m3bench.sandboxes.servers.food_nutrition_mcp.portion import Portion, names_another, portion
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.errors import SoftError

server = ToolServer("food_nutrition_mcp")

_MISSING = "Missing input query. Try something like '1 banana' or '2 eggs'."
_UNCLEAR = "Could not parse the input. Try using simpler food names."
_EMPTY = "No nutrients found."

_NEGATIVE = re.compile(r"[-\u2212][\d.]")

_LINES = {
    "energy": ("Energy", "kcal"),
    "protein": ("Protein", "g"),
    "fat": ("Total lipid (fat)", "g"),
    "carbohydrate": ("Carbohydrate, by difference", "g"),
    "fiber": ("Fiber, total dietary", "g"),
    "sugars": ("Sugars, total", "g"),
    "sodium": ("Sodium, Na", "mg"),
    "calcium": ("Calcium, Ca", "mg"),
    "iron": ("Iron, Fe", "mg"),
    "vitamin_c": ("Vitamin C, total ascorbic acid", "mg"),
}


@server.tool
async def get_nutrition(query: str | None = None, food: str | None = None) -> str:
    asked = (query or "").strip() or (food or "").strip()
    if not asked:
        raise SoftError(_MISSING, outcome="invalid_arguments")
    if _NEGATIVE.match(asked):
        raise SoftError(_EMPTY, outcome="invalid_arguments")
    found = portion(asked)
    if found is None:
        raise SoftError(_UNCLEAR, outcome="gap" if names_another(asked) else "invalid_arguments")
    if not found.grams:
        raise SoftError(_EMPTY, outcome="invalid_arguments")
    return "\n".join([f"Nutrition for: {asked}", *_lines(found)])


def _lines(found: Portion) -> list[str]:
    nutrients = found.food.nutrients
    return [f"- {label}: {nutrients[name] * found.grams / 100:.2f} {unit}" for name, (label, unit) in _LINES.items()]
