"""`icons` from the npm package @hugeicons/core-free-icons (MIT): names of icons, with tags of our own.

Run it with the path of the tarball that `npm pack @hugeicons/core-free-icons@4.3.5` leaves. The package has names
and drawings and no tags; an icon gets its words and what `icon_words` says of them. Taken are the icons named by
one or two words we have something to say about, at most three versions of a single word: the drawings are not.
"""

import json
import re
import sys
import tarfile
from collections import Counter
from itertools import zip_longest

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.build.writing import write

MOST_TAGS = 6
FEATURED_SHARE = 0.05
_EXPORT = re.compile(r"package/dist/esm/(\w+)Icon\.js$")
_HUMPS = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[0-9])",
)
_QUALIFIERS = {
    "add", "bottom", "check", "double", "down", "left", "minus", "move", "off", "plus", "remove", "right", "top",
    "turn", "up",
}  # fmt: skip
"""Words that only make a variant of another icon."""
_DEEDS = {
    "Arrows & Shapes",
    "Business & Finance",
    "Files & Documents",
    "Interface & Development",
    "Security",
    "Weather",
}
"""Categories of words that, coming last, say what is done with the thing named first."""


def main(tarball: str) -> None:
    """Write the table."""
    words = {record["word"]: record for record in tables.load("icon_words")}
    with tarfile.open(tarball) as package:
        manifest = package.extractfile("package/package.json")
        assert manifest is not None
        version = json.load(manifest)["version"]
        found = [match[1] for name in package.getnames() if (match := _EXPORT.match(name))]
    kept: list[dict[str, object]] = []
    families: Counter[str] = Counter()
    for name in sorted(_HUMPS.sub("-", export).lower() for export in found):
        parts = [part for part in name.split("-") if not part.isdigit()]
        family = "-".join(parts)
        subjects = [part for part in parts if part in words and part not in _QUALIFIERS]
        if len(subjects) != len(parts) or len(parts) > 2 or families[family] >= (3 if len(parts) == 1 else 1):
            continue
        families[family] += 1
        # One synonym of each word in turn, so that no word of a pair is left without.
        synonyms = [tag for tags in zip_longest(*(words[part]["tags"] for part in subjects)) for tag in tags if tag]
        kept.append(
            {
                "id": len(kept) + 1,
                "name": name,
                "tags": list(dict.fromkeys([*subjects, *synonyms]))[:MOST_TAGS],
                "category": _category([words[part]["category"] for part in subjects]),
                "featured": noise.fraction("icon featured", name) < FEATURED_SHARE,
                "version": noise.pick(("1.0.0", "1.0.0", "1.0.0", "1.1.0", "1.2.0", "2.0.0"), "icon version", family),
            }
        )
    source = f"Icon names of @hugeicons/core-free-icons {version} (npm); tags and categories are our own."
    write("icons", source, "MIT", kept)


def _category(categories: list[str]) -> str:
    """The last word names the thing (`crane-tower`) unless it only says what is done with it (`cloud-alert`)."""
    return categories[0] if categories[-1] in _DEEDS else categories[-1]


if __name__ == "__main__":
    main(sys.argv[1])
