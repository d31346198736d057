"""What a call told that was only compared, counted, sorted or ruled out: no later call and no answer shows it.

A price that was not the lowest, a park that was looked at and left, a house rule that does not apply: whoever solved
the task knew them, and so has to have asked. These are the numbers that fields are decided by and, of a call whose
facts are used nowhere as they are, what its tool is asked for, or else what its result alone says.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache

from m3bench.tasks.facts import MIN_DIGITS, Fact, Held, digits, facts_of, is_distinctive, leaves, number
from m3bench.tasks.folding import fold

MOST_FACTS = 6
"""Of one call: enough to know that it was made, and few enough for another route to bring them."""
SURE_DIGITS = 3
"""Of a number that is not in a result by chance."""
LONGEST = 120
"""Letters of a text that may be a fact; longer ones are taken by sentences."""
_ASKED_FOR = {
    "Reddit-MCP-Server/search_hot_posts": r"Score: (\d+)",
    "amazon/get_product": r"Price: \D{0,4}([\d.,]+)|Rated ([\d.]+)",
    "amazon/search_products": r"Price: \D{0,4}([\d.,]+)",
    "car-price/search_brand_model_price": r"Price: R\$ ([\d.,]+)",
    "food_nutrition_mcp/get_nutrition": r"Energy: ([\d.]+)",
    "google-maps/compute_route": r'"distanceMeters": (\d+)',
    "google-maps/distance_matrix": r'"distance": {\s*"text": "[^"]*",\s*"value": (\d+)',
    "google-maps/timezone": r'"timeZoneId": "([^"]+)"',
    "nationalparks/getCampgrounds": r'"name": "([^"]+)"',
    "okx/get_price": r'"lastPrice": "([\d.]+)"',
    "openlibrary_mcp/get_book_info": r'"title": "([^"]+)"|"pages": (\d+)',
    "yahoo-finance/get_stock_info": r'"currentPrice": ?([\d.]+)',
}
"""What these tools are asked for; the first group that matches is the fact."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def compared_in(held: Held, decided: Sequence[Fact], asked: Held, *, surely: bool = False) -> Iterator[Fact]:
    """The facts of a result that fields are decided by and that the question does not give.

    Args:
        held: The result.
        decided: The facts that decide.
        asked: The question.
        surely: Only facts that hardly stand there by chance: something else is known of the call.
    """
    for fact in decided:
        telling = isinstance(fact, str) or digits(fact) >= (SURE_DIGITS if surely else MIN_DIGITS)
        value = fold(fact) if isinstance(fact, str) else float(fact)
        if telling and held.holds(value) and not asked.holds(value):
            yield value


def told_alone(tool: str, held: Held, known: Sequence[Held]) -> list[Fact]:
    """What a result says that is not known otherwise, for a call of which nothing is used as it is.

    Args:
        tool: The tool.
        held: The result.
        known: The question, the arguments of the call, and the results of others of the tool.
    """
    found = dict.fromkeys(_asked_for(tool, held.text))
    own = [fact for fact in found if not any(each.holds(fact) for each in known[:2])]
    if own:
        return own[:MOST_FACTS]
    facts = [fact for fact in dict.fromkeys(_said(held.text)) if not any(each.holds(fact) for each in known)]
    telling = [fact for fact in facts if is_distinctive(fact)] or facts
    return telling[:MOST_FACTS] or list(dict.fromkeys(_said(held.text)))[:1]


def _asked_for(tool: str, text: str) -> Iterator[Fact]:
    pattern = _ASKED_FOR.get(tool)
    for match in _compiled(pattern).finditer(text) if pattern else ():
        word = next(group for group in match.groups() if group is not None)
        value = number(word)
        yield fold(word) if value is None else value


def _said(text: str) -> Iterator[Fact]:
    """The texts and numbers of a result: the values of a JSON document, else its lines and sentences."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    whole = [str(leaf) for leaf in leaves(document)] if isinstance(document, dict | list) else _SENTENCE.split(text)
    for part in whole:
        value = number(part)
        if value is not None:
            yield value
        elif len(part) <= LONGEST:
            yield from facts_of(part)
        else:
            yield from (
                fold(sentence) for sentence in _SENTENCE.split(part) if sentence and len(sentence) <= 2 * LONGEST
            )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
