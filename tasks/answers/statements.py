"""Statements: what a text says in the end, without what its writer took back, ruled out or only put around it.

"Oslo — no, wait: Bergen" says Bergen, and so does "Bergen, not Oslo". What this gives is a text again; whether it is
right is decided by the value's own type.
"""

import re
from collections.abc import Collection

from m3bench.tasks.answers.spelling import vocabulary, words_of

_TAKEN_BACK = re.compile(
    r"(?:^|[\s.,;:!(…–—-])(?:"
    r"no\s*[,.–—-]*\s*wait|wait\s*[,.–—-]*\s*no|(?:oh\s+)?wait(?=\s*[,:–—-])|on second thoughts?|i stand corrected|"
    r"(?:scratch|strike|forget|ignore) that|i take that back|"
    r"(?:sorry|oops|pardon)\s*[,:–—-]?\s*(?:i meant?|make that|"
    r"that should be|it is|it's|that's)|(?<=[.,;…–—-]\s)(?:i mean[t]?|make that|that should (?:be|read))|"
    r"(?:correction|erratum|edit|update|corrected)(?=\s*(?:[:–—]|-\s))"
    r")\s*[\s,.:;!–—-]*(?P<rest>\S.*)$"
    r"|(?:\.\.\.|…|\s[–—-]\s|[.;]\s)\s*actually\b[\s,:]*(?P<other>\S.*)$"
    r"|,\s+actually,?\s+(?P<third>\S.*)$"
    r"|[.,;–—-]\s*(?:but\s+)?that (?:was|is) (?:a typo|wrong|a mistake|an error|a slip)\b[\s,.:;–—-]*"
    r"(?:(?:it|that)(?:\s+is|['’]s|\s+was|\s+should be)\s+|make (?:it|that)\s+)?(?P<fifth>\S.*)$"
    r"|[.,;–—-]\s*(?:sorry|oops|pardon)\s*[,:–—-]\s*(?P<fourth>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_RULED_OUT = re.compile(
    r"^(?P<kept>.*?\S)\s*(?:[,;(–—]|\s-)?\s*(?:\band\s+)?(?:(?<=[,;(–—-]\s)not|(?<=[,;(–—-])not|rather than|"
    r"instead of|as opposed to)\s+(?P<out>(?:[^()]|\([^()]*\))*?)\)?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_NOT_BUT = re.compile(
    r"^\W*(?:(?:not|neither)\s+[^.;!?]{1,80}?|"
    r"(?:(?:at first|first|initially|originally)[\s,]+)?(?:i|we)\s+(?:(?:at )?first\s+|had\s+)?"
    r"(?:thought|guessed|believed|assumed|took|expected)\b.+?),?\s+but\s+"
    r"(?:(?:rather|then|now|in fact|actually)\s+)*"
    r"(?:(?:it(?:\s+is|['’]s|\s+was)|the answer is|that is)\s+)?(?:actually\s+|in fact\s+|really\s+)*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""What is ruled out before what is meant: "Not Oslo, but Bergen", "At first I thought Oslo, but it is Bergen"."""
_NOT_BUT_THIS = re.compile(
    r"^\W*(?:no\s*[,:]\s+)?not\s++(?!(?:quite|really|entirely|fully|all|very|too|\d+ ?%)?\s*(?:sure|certain|clear|"
    r"known|confident|convinced|possible|verified|checked|confirmed|found|available|exact|given|stated|enough)\b)"
    r"[^.;:!?]{1,80}?\s*+[:;]\s*+(?:(?:but|rather|yes to|instead)\s++)?(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""The same with a colon: "Not Oslo: Bergen"."""
_SO = re.compile(
    r"^[^\n]{1,200}?[,;.]\s+(?:so|therefore|thus|hence|i\.e\.|that is|which makes|that makes|which gives)[,:]?\s+"
    r"(?:(?:it|that|the answer)(?:\s+is|['’]s|\s+was)\s+)?(?P<rest>\S[^\n]*)$",
    re.IGNORECASE,
)
"""A reason before what follows from it: "Oslo has fewer, so Bergen"."""
_TURNED_DOWN = r"(?:closed|excluded|forbidden|off limits|unchanged|gone|ruled out|left out|left off|not [a-z]+)"
_DENIED_BEHIND = re.compile(
    r"^(?P<kept>.+?)(?:[.;,]\s++(?:(?:but|and|while|whereas)\s++)?(?P<what>[^.;,]+?)(?<=\S)\s++"
    rf"(?:(?:is|are|was|were|has|have|does|do|did)(?:\s+not|n['’]t)\b[^.;]*|(?:is|are|was|were)\s+{_TURNED_DOWN})"
    rf"|[.;]\s+{_TURNED_DOWN}\s*:\s*(?P<list>[^.;]+))[.!]?$",
    re.IGNORECASE | re.DOTALL,
)
_DENIES = re.compile(r"\b(?:not|never|neither|nor|no|except|isn't|wasn't|n't|other than)\b", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```[a-z]*[ \t]*\n(.*?)\n?\s*```\s*$", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"^\s*(?:[*•▪◦‣]\s+|[–—]\s+|(?:→|⇒|➜|->|=>)\s*)(?=\S)")
_LEAD = re.compile(r"^(?P<lead>[^:=]{1,80}?)(?:\s*[:=]\s+|\s+(?:is|are|was|were|be)\s*:?\s+)(?P<rest>\S.*)$", re.DOTALL)


_ANSWERED = re.compile(
    r"^(?:[^?!\n]{1,80}\?\s*){1,3}(?:no|nope|nah|wrong|not quite|i mean[t]?|actually|exactly|precisely|to be exact)\b"
    r"[\s,.:;!–—-]*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)

AHEAD = re.compile(
    r"^(?P<head>.{1,160}?)\s+(?:beats|(?P<sign>[<>])|"
    r"(?:is|are|was|were|costs?|has|have|rates|ranks|scores|comes out|weighs)\s+"
    r"(?P<how>\w+er|(?:more|less|fewer) \w+)\s+than)\s+(?P<other>.{1,160}?)[.!]?$",
    re.IGNORECASE,
)
"""One thing compared with another: "A is older than B", "A > B"."""
MORE = frozenset({"higher", "better", "larger", "bigger", "greater", "more"})
LESS = frozenset({"lower", "smaller", "fewer", "less"})
IS_THAT = re.compile(
    r"^(?P<head>.{1,160}?)\s+(?:has|had|is|was|are|were|have)\s+the\s+(?P<how>\w+)(?P<what>(?:\s+[^\W\d]+){0,2})[.!]?$",
    re.IGNORECASE,
)
"""A name that is said to be what was asked for: "Oslo has the worst air"."""
SO_MUCH_OF = re.compile(
    r"^(?:an?|one|some|\d+)\s+(?:clove|slice|piece|bunch|ear|loaf|head|cup|glass|bowl|bag|handful)s?\s+of\s+",
    re.IGNORECASE,
)
"""How much of a food there is."""
MOST_AND_LEAST = re.compile(
    r"^(?P<most>.{1,100}?)\s+(?:\w+s\s+)?(?:the\s+)?(?P<high>most|highest|largest|biggest|best|worst)\s*[,;]\s*(?:and\s+)?"
    r"(?P<least>.{1,100}?)\s+(?:\w+s\s+)?(?:the\s+)?(?P<low>least|lowest|smallest|fewest|worst|best)[.!]?$",
    re.IGNORECASE,
)
"""Two things compared: "A swings most, B least"."""
BY_WHOM = re.compile(
    r"^(?:(?:it|this|that)(?:['’]s| is| was)\s+)?(?:made|manufactured|produced|published|written|directed|painted|sold|"
    r"owned|run|marketed|distributed)\s+by\s+",
    re.IGNORECASE,
)
"""What leads to whoever made a thing."""
ONCE = re.compile(r"\s*[(,]\s*(?:formerly|previously|once|until recently)\s+(?P<once>[^()]+?)\)?$", re.IGNORECASE)
"""What somebody was called before."""
SUPERLATIVE = re.compile(
    r"^(?:the|it|our|my)\s+(?:\w+\s+)?(?:is|are|was|were)\s+(?:the\s+)?(?P<how>\w+)\s+(?:for|with|at|in|from)\s+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
"""What leads to a name in the words of the question: "the swap is cheapest for …"."""
OTHER_HAS_LESS = re.compile(
    r"^(?P<head>[^.;\n]+)[.;]\s++(?P<what>[^.;\n]+?)(?<=\S)\s++(?:is|was|has|had|comes|came|gets|got|costs?)\s++(?:only\s++)?"
    r"(?:less|fewer|second|lower|behind|smaller|next|worse|third|last)\b[^.;\n]*[.!]?$",
    re.IGNORECASE,
)
"""A second statement that puts something else behind."""
OF_THE_OTHER = re.compile(
    r"^(?P<head>[^.;\n]+)[.;]\s+(?:the|our|their)\s+(?P<which>\w+)(?:\s+one)?\s+(?:is|was)\s+(?P<what>[^.;\n]+?)[.!]?$",
    re.IGNORECASE,
)
REASON_FIRST = re.compile(
    r"^(?P<other>[^.;,]+?)\s+(?:is|are|was|were|costs?)\s+(?P<how>\w+er|more|less|worse)[.;,]\s+(?P<rest>[^.;,]+)[.!]?$",
    re.IGNORECASE,
)
"""What is said against one thing before another is named: "The pass is dearer; single entries"."""
PLACE_BESIDE = re.compile(r"\s*[(\[](?P<label>[A-Za-z]\d{0,2}|\d{1,2})[)\]]$")
"""The letter or number of a place, in brackets behind a name."""


def of_two_ends(text: str, asked: Collection[str], *, least: bool) -> str:
    """Which of two things is meant where one is said to have most and one least; the text where that is open.

    Args:
        text: The text.
        asked: Words of the question.
        least: Whether they ask for the smaller one.
    """
    match = MOST_AND_LEAST.match(text)
    if match is None:
        return text
    for end, how in (("least", match["low"]), ("most", match["high"])):
        if how.lower() in asked:
            return match[end]
    if {match["low"].lower(), match["high"].lower()} & {"best", "worst"}:
        return text  # it depends on what is good
    return match["least" if least else "most"]


def answered(text: str) -> str:
    """What somebody says who asks first whether it is another thing: "Oslo? No, Bergen."."""
    match = _ANSWERED.match(text)
    return match["rest"].rstrip(" .!") if match else text


def settled(text: str) -> str:
    """What a text says in the end: what stands behind the last correction."""
    while (match := _TAKEN_BACK.search(text)) and text[: match.start()].strip(" -–—*_"):
        rest = next(part for part in match.groupdict().values() if part)
        text = rest.strip()
    match = _NOT_BUT.match(text) or _NOT_BUT_THIS.match(text)
    return match["rest"].strip() if match else text


def concluded(text: str) -> str:
    """What follows from a reason that is given before it."""
    match = _SO.match(text)
    return match["rest"].strip() if match else text


def denied_behind(text: str) -> tuple[str, str]:
    """What a text says, and what a last sentence says of others that are none: "A and B; C is not"."""
    match = _DENIED_BEHIND.match(text.strip())
    return (match["kept"], match["what"] or match["list"]) if match else (text, "")


def kept(text: str) -> tuple[str, str]:
    """What a text says, and what it rules out beside that: `by car` and `on foot` of "by car, not on foot"."""
    match = _RULED_OUT.match(text)
    if match is None or _DENIES.search(match["kept"]) or len(match["out"]) > 200:
        return text, ""
    return match["kept"].rstrip(" ,;(–—-"), match["out"]


def unfenced(text: str) -> str:
    """A text without a code fence, a bullet or an arrow before it."""
    text = _FENCE.sub(r"\1", text)
    return _MARK.sub("", text)


def without_lead(text: str, asked: str) -> str:
    """A text without words before it that only announce it or repeat the question: "The study's number is …"."""
    match = _LEAD.match(text)
    if match is None:
        return text
    names = vocabulary().names
    allowed = {"s", *words_of(f"{names['saying']} {names['announcing']} {asked}")}
    said = {word for word in words_of(match["lead"]) if word not in allowed}
    return match["rest"] if {word.removesuffix("s") for word in said} <= allowed else text
