"""The `food_nutrition_mcp` server: what a described portion of a food contains.

A description is an amount, a measure and a food, as people write them: `2 large eggs`, `half a cup of rice`,
`chicken breast 150g`. The amount may be figures, fractions or words; the measure a unit, a size or a household vessel,
before or after the food. Words that change neither (fresh, sliced, organic) are skipped. Several foods (`2 eggs and 1
slice of toast`) are added up when every one of them is understood, and refused otherwise. Failures are ordinary
results.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import foods
from m3bench.sandboxes.world.foods import Food
from m3bench.sandboxes.world.search import fold
from m3bench.tasks.errors import SoftError

LONGEST_TEXT = 300
MOST_GRAMS = 10_000_000.0

_FRACTIONS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8", "⅕": "1/5"}
_NUMBER = r"\d+/\d+|\d+(?:\.\d+)?"
_TOKEN = re.compile(rf"{_NUMBER}|[^\W\d_][\w'’-]*")
_WORDS_BETWEEN = (
    r"\b(?:(?:topped|served|drizzled|sprinkled|covered|filled|stuffed) with|and|with|plus)\b"
    r"|\bover\b(?! (?:easy|medium|hard|light|well)\b)|\bon\b(?! (?:the|top|side|skin|bone)\b)"
)
_NEXT_FOOD = re.compile(rf"[,;+&\n]|(?<=[^\W\d_])\s*/|{_WORDS_BETWEEN}")
_JOINED = re.compile(rf"[;+&\n]|(?<=[^\W\d_])\s*/|{_WORDS_BETWEEN}")
"""What stands between two foods, or within the name of a dish; after a comma there may be a remark."""
_HALF_MORE = re.compile(r"\band (?:a|one) half\b|\band 1/2\b")


def _listed(*lines: str) -> list[str]:
    return [word for line in lines for word in line.split()]


_COUNTS = {
    word: float(number)
    for number, word in enumerate(_listed("one two three four five six seven eight nine ten eleven twelve"), 1)
} | {"a": 1.0, "an": 1.0, "half": 0.5, "quarter": 0.25, "dozen": 12.0, "couple": 2.0, "few": 3.0}

_LARGE = {
    word: float(number)
    for number, word in enumerate(_listed("thirteen fourteen fifteen sixteen seventeen eighteen nineteen"), 13)
} | {
    word: float(number)
    for number, word in zip(
        range(20, 100, 10), _listed("twenty thirty forty fifty sixty seventy eighty ninety"), strict=True
    )
}
_SCALES = {"hundred": 100.0, "thousand": 1000.0}
_SMALL = tuple(
    word for word, number in _COUNTS.items() if number >= 1 and word not in ("a", "an", "dozen", "couple", "few")
)
_NUMERAL = "|".join((*_SMALL, *_LARGE, *_SCALES))
_SPELLED = re.compile(
    rf"\b(?:a (?=hundred\b|thousand\b(?! island)))?(?:{_NUMERAL})(?:(?:[\s-]+and)?[\s-]+(?:{_NUMERAL}))*\b"
)
"""A number in words: "two hundred and ninety"."""

_UNITS = {
    "g": "g gr gm gms gram grams gramme grammes",
    "kg": "kg kgs kilo kilos kilogram kilograms",
    "mg": "mg milligram milligrams",
    "oz": "oz ounce ounces",
    "lb": "lb lbs pound pounds",
    "ml": "ml milliliter milliliters millilitre millilitres",
    "cl": "cl centiliter centilitre",
    "dl": "dl deciliter decilitre",
    "l": "l liter liters litre litres",
    "fl oz": "floz",
    "tsp": "tsp tsps teaspoon teaspoons teaspoonful",
    "tbsp": "tbsp tbsps tablespoon tablespoons tablespoonful",
    "whole": "whole entire",
    "piece": "piece pieces pc pcs item items unit units",
    "serving": "serving servings portion portions helping order",
    "leaf": "leaf leaves",
    "loaf": "loaf loaves",
    "patty": "patty patties",
    "half": "half halves",
    "small": "small little mini",
    "medium": "medium mid regular average",
    "large": "large big",
    "extra large": "xl extra-large",
} | {
    word: f"{word} {word}{'es' if word.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
    for word in _listed(
        "cup glass mug bowl pint quart gallon pinch dash handful bunch slice wedge stalk stick spear floret clove head",
        "ear cob ball chunk cube sheet bag box pack packet can bottle container scoop cone shot plate bar square block",
        "fillet steak chop rib rack link strip breast thigh wing drumstick leg tail ring roll bun pat",
        "jumbo double bucket baguette",
    )
}
_MEASURES = {word: unit for unit, forms in _UNITS.items() for word in forms.split()}
_SYNONYMS = {
    "tin": "can",
    "tins": "can",
    "carton": "box",
    "punnet": "box",
    "punnets": "box",
    "hand": "bunch",
    "segment": "wedge",
    "jar": "cup",
    "rasher": "slice",
    "rashers": "slice",
}
_EXACT = ("g", "kg", "mg", "oz", "lb", "ml", "cl", "dl", "l", "fl oz")
_WEIGHED = re.compile(rf"({_NUMBER})[\s-]*({'|'.join(sorted(_MEASURES, key=len, reverse=True))})\b")

_FILLER = frozenset(
    _listed(
        "about approximately approx calorie calories content fact facts find for get give has have how i in info is",
        "are information ate me many much nutrient nutrients nutrition nutritional of please show tell the there value",
        "values what whats kcal macros energy",
    )
)
_PLAIN = frozenset(
    _listed(
        "fresh freshly ripe organic sliced chopped diced peeled unpeeled cubed shredded minced raw plain cooked whole",
        "small medium large big red green yellow purple brown black white homemade natural average regular piece",
        "pieces pitted washed skinless boneless unsalted",
    )
)
_REMARKS = _PLAIN | frozenset(
    _listed(
        "baked boiled bone bones braised broiled fried grilled roasted steamed toasted drained halved lightly mashed",
        "on no without skin skins peel seeds seedless shell hot cold warm side top please each",
    )
)
"""Words that after a food say how it is, and are no food of their own."""


@dataclass(frozen=True)
class Portion:
    """A food and how many grams of it."""

    food: Food
    grams: float


def portions(text: str) -> list[Portion]:
    """The portions that a text describes, all of them; none when one of them cannot be made out."""
    if len(text) > LONGEST_TEXT:
        return []
    tidy = _tidy(text)
    whole = foods.named(tidy)
    if whole:
        return [Portion(whole, whole.weight(None))]
    parts = [part for part in _NEXT_FOOD.split(tidy) if part.strip()]
    if len(parts) == 1:
        return _some(_read(tidy))
    dish = _read(tidy, clearly=True)
    if dish and (not _JOINED.search(tidy) or any(map(_JOINED.search, (dish.food.name.lower(), *dish.food.aliases)))):
        return [dish]
    foods_meant = [parts[0], *(part for part in parts[1:] if not set(_TOKEN.findall(part)) <= _REMARKS)]
    if len(foods_meant) == 1:
        return _some(_read(parts[0]))
    found = [_read(part, clearly=True) for part in foods_meant]
    return [portion for portion in found if portion] if all(found) else []


def _some(found: Portion | None) -> list[Portion]:
    return [found] if found else []


def names_another(text: str) -> bool:
    """Whether a text of which no portion could be made names something that may be a food and is not held."""
    if len(text) > LONGEST_TEXT:
        return False
    known = _FILLER | _PLAIN | _COUNTS.keys() | _MEASURES.keys() | _SYNONYMS.keys()
    left = [token for token in _TOKEN.findall(_tidy(text)) if token[0].isalpha() and token not in known]
    return bool(left) and not foods.search(" ".join(left), 1)


def _tidy(text: str) -> str:
    for sign, plain in _FRACTIONS.items():
        text = text.replace(sign, f" {plain} ")
    lowered = re.sub(r"\b([1-9]\d{0,2}),(\d{3})\b", r"\1\2", fold(text).replace("⁄", "/"))
    lowered = re.sub(r"(?<=\d),(?=\d)", ".", lowered)
    lowered = re.sub(r"\bfl(?:uid)?\.?\s*(?:oz|ounces?)\b", "floz", lowered)
    lowered = re.sub(r"\bextra[\s-]+large\b", "xl", lowered)
    lowered = re.sub(r"(?<=\w)[\s-]+sized?\b", "", lowered)
    lowered = _SPELLED.sub(lambda found: _figures(found[0]), lowered)
    return " ".join(_HALF_MORE.sub("1/2", lowered).split())


def _figures(spelled: str) -> str:
    """A number in words as figures; small ones stay, and `thousand` alone, which is the name of an island."""
    words = [word for word in re.split(r"[\s-]+", spelled) if word != "and"]
    if not any(word in _LARGE for word in words) and (len(words) < 2 or not any(word in _SCALES for word in words)):
        return spelled
    total = current = 0.0
    for word in words:
        if word == "thousand":
            total, current = total + max(1.0, current) * 1000, 0.0
        elif word == "hundred":
            current = max(1.0, current) * 100
        else:
            current += _LARGE.get(word, _COUNTS.get(word, 0.0))
    return f"{total + current:g}"


def _read(text: str, *, clearly: bool = False) -> Portion | None:
    """One amount of one food. `clearly` refuses foods that only resemble what is written."""
    amount, measure, rest = _weighed(text)
    tokens = [token for token in _TOKEN.findall(rest) if token != "x"]
    while tokens and tokens[0] in _FILLER:
        tokens.pop(0)
    count, name = _count(_figure_first(tokens))
    unit, food = _food(name, clearly)
    if food is None:
        return None
    if measure:
        one = amount * food.weight(measure)
    else:
        one = food.weight(unit) if unit or len(name) == len(tokens) else food.single
    return Portion(food, count * one) if count * one <= MOST_GRAMS else None


def _figure_first(tokens: list[str]) -> list[str]:
    """`sushi 6 pieces` as `6 pieces sushi`."""
    figure = next((place for place, token in enumerate(tokens) if token[0].isdigit()), 0)
    return tokens if tokens and tokens[0] in _COUNTS else tokens[figure:] + tokens[:figure]


def _weighed(text: str) -> tuple[float, str | None, str]:
    """An exact weight or volume anywhere in a text, its unit, and the text without it."""
    for found in _WEIGHED.finditer(text):
        unit = _MEASURES[found[2]]
        if unit in _EXACT:
            return _number(found[1]), unit, f"{text[: found.start()]} {text[found.end() :]}"
    return 1.0, None, text


def _count(tokens: Sequence[str]) -> tuple[float, list[str]]:
    """How many, from the tokens at the beginning, and the other tokens."""
    count, position = 1.0, 0
    while position < len(tokens):
        token = tokens[position]
        if "/" in token and position and "/" not in tokens[position - 1]:
            count += _number(token)
        elif token[0].isdigit():
            count *= _number(token)
        elif token in _COUNTS:
            count *= _COUNTS[token]
        elif token != "of":
            break
        position += 1
    return count, list(tokens[position:])


def _number(text: str) -> float:
    over, _, under = text.partition("/")
    divisor = float(under or 1)
    return float(over) / divisor if divisor else math.inf


def _food(tokens: list[str], clearly: bool) -> tuple[str | None, Food | None]:
    """Measure and food of what follows the count."""
    named = foods.named(" ".join(tokens))
    if named:
        return None, named
    units: list[str] = []
    while len(tokens) > 1 and (tokens[0] == "of" or _measure(tokens[0])):
        units += [unit] if (unit := _measure(tokens.pop(0))) else []
        named = foods.named(" ".join(tokens))
        if named:
            break
    if not named and len(tokens) > 1 and (last := _measure(tokens[-1])):
        named = foods.named(" ".join(tokens[:-1]))
        if named:
            units.append(last)
    found = named or _searched(tokens, clearly)
    return _chosen(units, found), found


def _chosen(units: list[str], food: Food | None) -> str | None:
    """Of several measures (`large slice`) the one the food lists, else the last."""
    listed = [unit for unit in units if food and unit in food.measures]
    return (listed or units)[-1] if units else None


def _measure(token: str) -> str | None:
    return _MEASURES.get(_SYNONYMS.get(token, token))


def _searched(tokens: Sequence[str], clearly: bool) -> Food | None:
    bare = [token for token in tokens if token not in _PLAIN and token not in _FILLER]
    if all(map(_measure, bare)):
        return None
    for words in (bare, list(tokens)):
        text = " ".join(words)
        named = foods.named(text)
        if named:
            return named
    text = " ".join(bare)
    if clearly:
        return foods.clearly(text)
    return next(iter(foods.search(text, 1)), None)


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
    found = portions(asked)
    if not found:
        raise SoftError(_UNCLEAR, outcome="gap" if names_another(asked) else "invalid_arguments")
    if not all(portion.grams for portion in found):
        raise SoftError(_EMPTY, outcome="invalid_arguments")
    return "\n".join([f"Nutrition for: {asked}", *_lines(found)])


def _lines(found: Sequence[Portion]) -> list[str]:
    return [
        f"- {label}: {sum(portion.food.nutrients[name] * portion.grams / 100 for portion in found):.2f} {unit}"
        for name, (label, unit) in _LINES.items()
    ]
