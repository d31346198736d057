"""Where the values of a call's arguments come from, and what calls leave behind: what orders the calls of a run.

A value comes from the question, the picture, an earlier answer, or nowhere. Two questions are asked of the same run.
The judge asks whether a value could be known at all; the summariser asks which earlier call has to come first. Both
look at values, not at what an agent may have thought.

A call that changes something is never put into one step with another that touches the same thing. What a call changes
follows from its arguments: the place it is asked to write to or, if there is none, everything it names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from json import dumps
from pathlib import PurePosixPath

from m3bench.proxy.steps.dataflow import distinctive_values, texts
from m3bench.server.lab.authoring.curation.material import Act, CurationMaterial, path_of
from m3bench.tasks.catalog import Tool
from m3bench.tasks.facts import within

NUMBER = re.compile(r"(?<!\d(?!-))(?:(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?(?!\d{31})\d++(?:\.(?!\d{31})\d++)?)")
"""Of at most thirty digits; none begins within another."""
_PATH = re.compile(r"[^\s:*?\"<>|]+\.[A-Za-z]{2,5}|\.{0,2}/[^\s:*?\"<>|]*")
_DOTTED = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{3})+(?![\d.])")
_FACTORS = (1.0, 1000.0, 100.0, 60.0, 3600.0)
"""Between kilometres and metres, percent and parts, hours, minutes and seconds."""
_MOST_SAID = 5000
"""Numbers of one answer that are looked at."""
_MOST_NUMBERS = 240
"""Numbers of which pairs are tried: those said last come first."""
MIN_WORD = 3
_WORD = re.compile(r"[^\W\d_]{3,}")
_MARGIN = 24
"""Pixels around something found that still mean it."""
_SIDES = 3
"""Numbers that have to agree before a place is taken for one that was found."""


def is_path(text: str) -> bool:
    """Whether a text names a file or a folder."""
    return _PATH.fullmatch(text) is not None and "://" not in text


def phrases(arguments: Mapping[str, object]) -> Iterator[str]:
    """The values of arguments that could stand in an answer, in one case: whole texts, and numbers in them."""
    yield from distinctive_values(arguments)
    for text in texts(arguments):
        folded = text.strip().casefold()
        if len(folded) >= MIN_WORD and not folded.replace(".", "").replace("-", "").isdigit():
            yield folded


def manual(tool: Tool | None) -> str:
    """What a tool says of itself, in one case: its choices, defaults and examples are nobody's discovery."""
    if tool is None:
        return ""
    return f"{tool.description}\n{dumps(tool.input_schema, ensure_ascii=False)}".casefold()


def is_derived(number: str, said: str) -> bool:
    """Whether a number follows from numbers that were said: rounded, in another unit, or of two of them."""
    wanted = float(number.replace(",", ""))
    places = len(number.partition(".")[2])
    known = said_numbers(said)
    if any(
        abs(round(number * factor, places) - wanted) < 1e-9 or abs(round(number / factor, places) - wanted) < 1e-9
        for number in known
        for factor in _FACTORS
    ):
        return True
    pairs = list(dict.fromkeys(reversed(known)))[:_MOST_NUMBERS]
    return any(
        abs(result - wanted) <= max(1e-6, 0.5 * 10**-places)
        for index, one in enumerate(pairs)
        for other in pairs[index:]
        for result in _combined(one, other)
    )


def _grouped(said: str) -> Iterator[str]:
    """Numbers whose thousands are parted by dots, as many countries write them."""
    for found in _DOTTED.findall(said):
        yield found.replace(".", "")


def _combined(one: float, other: float) -> Iterator[float]:
    yield one + other
    yield one - other
    yield other - one
    yield one * other
    if other:
        yield one / other
        yield 100 * (one - other) / other
    if one:
        yield other / one
        yield 100 * (other - one) / one


def reads_picture(act: Act, pictures: frozenset[str]) -> bool:
    """Whether a call looked at one of the task's pictures."""
    return any(path_of(text) in pictures for text in texts(act.arguments))


def sources(material: CurationMaterial, acts: Sequence[Act], index: int, known: str) -> list[list[int]]:
    """For each value of a call that it must have been told: the earlier calls whose answers have it.

    A value of the question needs no source. One that can be seen in a picture needs one only if a call that looked
    at the picture gave it. A plain word counts when it stands alone in an answer, as a title or a field does.

    Args:
        material: The run.
        acts: The calls that are looked at, in order.
        index: Which of them.
        known: What its tool says of itself.
    """
    act, earlier = acts[index], range(index)
    strong = set(distinctive_values(act.arguments))
    needed = [[place for place in earlier if _gave_place(acts[place], act, material.pictures)]]
    for name, value in act.arguments.items():
        if isinstance(value, int) and not isinstance(value, bool):
            needed.append([place for place in earlier if _labels(acts[place], name, value)])
    for value in dict.fromkeys(phrases(act.arguments)):
        if NUMBER.fullmatch(value) and not within(value, f"{material.asked}\n{material.seen}"):
            needed += _number_sources(acts, index, value)
            continue
        if (
            (value not in strong and within(value, known))
            or within(value, material.asked)
            or path_of(value) in material.pictures
        ):
            continue
        parts = [value] if within(value, material.seen) else _seen_words(material, value)
        needed.append(
            [place for place in earlier if reads_picture(acts[place], material.pictures)
             and any(within(part, acts[place].said) for part in parts)]
            if parts
            else [place for place in earlier if _gave(acts[place], value, value in strong)]
        )  # fmt: skip
    return [found for found in needed if found]


def _number_sources(acts: Sequence[Act], index: int, value: str) -> list[list[int]]:
    """The calls that said a number, perhaps in another form; all that said any, when it was worked out from several."""
    wanted = float(value.replace(",", ""))
    places = len(value.partition(".")[2])
    numbers = [said_numbers(act.said) for act in acts[:index]]
    own = [said_numbers(" ".join(texts(act.arguments))) for act in acts[:index]]
    found = [
        place
        for place in range(index)
        if any(abs(round(number, places) - wanted) < 1e-9 for number in numbers[place]) and wanted not in own[place]
    ]
    if found:
        return [found]
    if any(wanted in numbers for numbers in own):
        return []
    everything = "\n".join(act.said for act in acts[:index])
    return [[place] for place in range(index) if numbers[place]] if is_derived(value, everything) else []


@lru_cache(maxsize=256)
def said_numbers(said: str) -> tuple[float, ...]:
    """The numbers in an answer, each once, however their thousands are parted."""
    found = (float(digits.replace(",", "")) for digits in (*NUMBER.findall(said), *_grouped(said)))
    return tuple(islice(dict.fromkeys(found), _MOST_SAID))


def _seen_words(material: CurationMaterial, value: str) -> list[str]:
    """Words of a longer text that can be seen in a picture."""
    return [
        word for word in _WORD.findall(value)
        if within(word, material.seen) and not within(word, material.asked)
    ]  # fmt: skip


def _gave(act: Act, value: str, strong: bool) -> bool:
    """Whether an answer brought a value that the call itself did not have."""
    own = "\n".join(texts(act.arguments)).casefold()
    return within(value, act.said) and not within(value, own) and (strong or stands_alone(value, act.said))


def _labels(act: Act, name: str, value: int) -> bool:
    """Whether an answer has a small number under the argument's own name, as `Department ID: 13` does."""
    if value in act.arguments.values():
        return False
    words = [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    label = r"[\W_]*".join(map(re.escape, words))
    return bool(words) and re.search(rf"(?<![a-z]){label}s?\"?[:=\s]+{value}(?!\d)", act.said) is not None


def _gave_place(earlier: Act, later: Act, pictures: frozenset[str]) -> bool:
    """Whether a call works on a place of a picture that an earlier look at the picture had found."""
    if not (reads_picture(earlier, pictures) and reads_picture(later, pictures)):
        return False
    wanted = [float(text) for text in texts(later.arguments) if NUMBER.fullmatch(text) and float(text) >= _MARGIN]
    said = said_numbers(earlier.said)
    close = [number for number in wanted if any(abs(number - other) <= _MARGIN for other in said)]
    return len(close) >= _SIDES


def stands_alone(value: str, said: str) -> bool:
    """Whether a value is a whole field, line or item of an answer."""
    edge = r"[\"'\n:,;•*|()\[\]>-]"
    return re.search(rf"(?:^|{edge})\s*{re.escape(value)}\s*(?:$|{edge})", said) is not None


_TARGETS = ("output", "save", "dest", "target")
_HANDLES = ("id", "presentation_id", "document_id", "session_id")


def touched(act: Act, tool: Tool | None) -> tuple[frozenset[str], frozenset[str]]:
    """What a call reads and what it writes, by name."""
    named = frozenset(_named(act.arguments, act.arguments))
    if tool is None or tool.read_only:
        return named, frozenset()
    targets = {
        name: value for name, value in act.arguments.items() if any(word in name.casefold() for word in _TARGETS)
    }
    written = frozenset(_named(targets, act.arguments))
    return (named - written, written) if written else (frozenset(), named)


def is_bound(earlier: Act, later: Act, tools: Mapping[str, Tool]) -> bool:
    """Whether the order of two calls may matter because of what they leave behind."""
    first_reads, first_writes = touched(earlier, tools.get(earlier.tool))
    then_reads, then_writes = touched(later, tools.get(later.tool))
    return bool(_shared(first_writes, then_reads | then_writes) or _shared(first_reads, then_writes))


def _shared(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether some thing is in both, or inside a folder that is."""
    return any(a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in one for b in other)


def _named(arguments: Mapping[str, object], all_arguments: Mapping[str, object]) -> Iterator[str]:
    for name, value in arguments.items():
        for text in texts(value):
            if isinstance(value, str) and name in _HANDLES:
                yield text
            elif is_path(text):
                path = path_of(text).rstrip("/")
                # Two calls may fill one folder at a time; what they put there goes by what they are about.
                yield from (
                    [path] if PurePosixPath(path).suffix else [f"{path}/{topic}" for topic in _topics(all_arguments)]
                )


def _topics(arguments: Mapping[str, object]) -> list[str]:
    return [value for value in distinctive_values(arguments) if not is_path(value)] or [""]
