"""Articles of the encyclopedia as families need them: what one of them says and the others of its kind do not."""

import re
from collections import Counter
from collections.abc import Iterable

from m3bench.tasks.families.base import Kit


def telling(
    kit: Kit, names: Iterable[str], *, figures: bool = False, described: bool = False
) -> dict[str, tuple[str, ...]]:
    """By name, the words of the article on it that no article on another of the names has.

    Args:
        kit: Has the articles.
        names: What they are on.
        figures: Whether figures count as words.
        described: Whether the line that describes the thing counts with its article.
    """
    found = {name.casefold(): name for name in names}
    texts: dict[str, str] = {}
    for record in kit.world("articles"):
        for title in (record["title"], *record.get("aliases", ())):
            if title.casefold() in found:
                above = f"{record['description']}. " if described else ""
                texts.setdefault(found[title.casefold()], f"{above}{record['extract']}")
    sought = r"\d[\d.]*\d|[^\W\d_]{5,}" if figures else r"\d{4}|[^\W\d_]{5,}"
    words = {name: dict.fromkeys(re.findall(sought, text)) for name, text in texts.items()}
    count = Counter(word for mine in words.values() for word in {word.casefold() for word in mine})
    return {
        name: tuple(word for word in mine if count[word.casefold()] == 1 and word.casefold() not in name.casefold())
        for name, mine in words.items()
    }
