"""Statements: what a text says in the end, without what its writer took back, ruled out or only put around it.

"Oslo — no, wait: Bergen" says Bergen, and so does "Bergen, not Oslo". What this gives is a text again; whether it is
right is decided by the value's own type.
"""

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from m3bench.tasks.answers.spelling import Words, find, hedges, vocabulary, words_of
from m3bench.tasks.folding import fold

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
    r"|[.,;–—-]\s*(?:sorry|oops|pardon)\s*[,:–—-]\s*(?:i meant?\s+|make that\s+)?(?P<fourth>\S.*)$",
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
_BUT_IT_IS = re.compile(
    r"^(?!.*\b(?:any|all|every|everything|anything|anywhere|none|nothing|nobody)\b)[^\n]{1,200}?[\s,;.–—-]but\s+"
    r"(?:(?:now|in fact|actually|then|really)\s+)*(?:it|that|the (?:right |correct |real )?"
    r"(?:answer|one|value))(?:['’]s|\s+is|\s+was|\s+must be)\s+"
    r"(?:(?:now|in fact|actually|really)\s+)*(?P<rest>\S[^\n]*)$",
    re.IGNORECASE,
)
"""What is said at first, and what it is: "Oslo was my guess, but it's Bergen"."""
_NOT_BUT_THIS = re.compile(
    r"^\W*(?:no\s*[,:]\s+)?not\s++(?!(?:quite|really|entirely|fully|all|very|too|\d+ ?%)?\s*(?:sure|certain|clear|"
    r"known|confident|convinced|possible|verified|checked|confirmed|found|available|exact|given|stated|enough)\b)"
    r"[^.;:!?]{1,80}?\s*+[:;]\s*+(?:(?:but|rather|yes to|instead)\s++)?(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""The same with a colon: "Not Oslo: Bergen"."""
_TURNED_DOWN_FIRST = re.compile(
    r"^(?:not (?:in|at|by)|do not|don['’]t)\s+[^.;:!?]{1,80}[.:;]\s+(?P<rest>\S[^\n]*)$", re.IGNORECASE
)
"""Advice against one thing before another is named: "Don't buy the pass: single entries"."""
_SO = re.compile(
    r"^[^\n]{1,200}?[,;.]\s+(?:so|therefore|thus|hence|i\.e\.|that is(?=,)|which makes|that makes|which gives)[,:]?\s+"
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
_LEAD = re.compile(
    r"^(?P<lead>[^:=]{1,80}?)(?:\s*[:=]\s+|\s+[–—-]+\s+|\s+(?:is|are|was|were|be)\s*:?\s+)(?P<rest>\S.*)$", re.DOTALL
)


_ANSWERED = re.compile(
    r"^(?:[^?!\n]{1,80}\?\s*){1,3}(?:no|nope|nah|wrong|not quite|i mean[t]?|actually|exactly|precisely|to be exact)\b"
    r"[\s,.:;!–—-]*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)

SO_MUCH_OF = re.compile(
    r"^(?:an?|one|some|\d+)\s+(?:pair|clove|slice|piece|bunch|ear|loaf|head|cup|glass|bowl|bag|handful)s?\s+of\s+",
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
SUPERLATIVE = re.compile(
    r"^(?:the|it|our|my)\s+(?:\w+\s+)?(?:is|are|was|were)\s+(?:the\s+)?(?P<how>\w+)\s+(?:for|with|at|in|from)\s+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
"""What leads to a name in the words of the question: "the swap is cheapest for …"."""
BEHIND = re.compile(r"^(?P<other>.{1,160}?)\s+(?:is|are|comes?|came)\s+behind\s+(?P<rest>.{1,160})$", re.IGNORECASE)
"""One thing, or several, that come after another."""
LIFE = re.compile(r"\s*\((?:[^()]*,\s*)?(?:1[0-9]|20)\d\d\s?[–-]\s?(?:1[0-9]|20)\d\d\)$")
"""When somebody lived, and where."""
MAKERS_OWN = re.compile(r"^(?:[A-Z][\w.-]+\s+){0,3}[A-Z][\w.-]+['’]s?\s+(?=[A-Z])")
"""Who made a thing, before its title."""
REASON_FIRST = re.compile(
    r"^(?P<other>[^.;,]+?)\s+(?:is|are|was|were|costs?)\s+(?P<how>\w+er|more|less|worse)[.;,]\s+(?P<rest>[^.;,]+)[.!]?$",
    re.IGNORECASE,
)
"""What is said against one thing before another is named: "The pass is dearer; single entries"."""
_EDGE = re.compile(
    r"\s*[.;:!,](?=\s)|\s+[-–—]+(?=\s)|\s*—|\s*(?=[(\[])|\s*(?=\n)|\s+(?=[<>→])|\s+(?=([^\W\d]+)\b)", re.IGNORECASE
)
"""Where a value may end and an explanation of it begin: at a mark, or before one of the words that begin one."""
_CLAUSES = re.compile(r"([.;!\n]\s+|\n|,\s+|\s[-–—]+\s|—|[(\[)\]]|\s→\s)")
_ADDS = re.compile(
    r"^[\s,;.–—-]*(?:(?:and|as well as|along with|together with|alike|too|also|plus)\b"
    r"(?!\s+(?:not|so|it|that|has)\b)|(?:or|nor|and/or)\b|[&/+])"
)
"""What adds another value to the one before it."""
_DENIAL = re.compile(r"\b(?:not|no|none|never|neither|nor|without|except|wrong|incorrect|false)\b|n['’]t\b")
_DENIES_IT = re.compile(
    r"^\W*(?:(?:it|this|that|which)\s+)?(?:is|was|are|were|has|have|had|does|do|did|can|will)(?:\s+\w+)?"
    r"(?:\s+(?:not|never|wrong|incorrect|false|no longer|closed|excluded|ruled out)\b|n['’]t\b)|"
    r"^\W*(?:(?:is|was)\s+)?(?:not|never|no)\s+"
    r"(?:it|right|correct|true|this|that|quite|verified|confirmed|sure|certain)\b|^\W*not\W*$|^\s+(?:not|never|no)\b|"
    r"^\W*(?:is|was)?\s*(?:wrong|incorrect|false)\b"
)
"""What takes back the value before it."""
_DENIES_ALL = re.compile(r"\b(?:wrong|incorrect|false)\b|\b(?:not|n['’]t)\s+(?:the (?:one|right|correct|answer)|it)\b")
_COPULA = re.compile(r"\b(?:and|or|than|is|are|was|were|be|not|being|has|have|had)\s*$", re.IGNORECASE)
_TURNS = frozenset(
    "but however if also another later unless same tie tied ties equally alike and/or".split()  # noqa: SIM905
)
_RANKS = frozenset({"second", "third", "fourth", "runner", "2nd", "3rd", "4th"})
_PUTS_BEHIND = frozenset(
    "than ahead beats beat beating over vs versus against then next followed behind compared second third last instead "  # noqa: SIM905
    "rather formerly previously unlike not only because since".split()
)
_BEYOND = frozenset(
    "from vs versus than of out after before instead not below above under over other others rounded was were formerly "  # noqa: SIM905
    "because since compared against limit alone".split()
)
"""Words beside a number that is another than the one that is said."""
_PROPER = re.compile(r"(?<=[a-z0-9,;:)] )[A-Z][^\W\d_]+|(?<=[(\[])[A-Z][^\W\d_]+")
_MAKER = re.compile(r"\bby(?:\s+[A-Z][\w.'’-]*)+")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_MEASURE = re.compile(r"[$€£¥%°★⭐]|\d\s?[a-z]|\d[.,]\d")
_LINE = re.compile(r"^\W*(?P<of>[^:\n]{1,60}):\s")
"""A line that says what it is of: "Hypertension: none"."""
MOST_EDGES = 16
_MARKS = r"[\W_]+"


class About(NamedTuple):
    """What is known of a value when what is said around it is read."""

    asked: frozenset[str]
    """Words of the question."""
    right: frozenset[Words] = frozenset()
    """Names of the right thing."""
    rivals: frozenset[Words] = frozenset()
    """Names of things of its kind that are wrong."""
    known: frozenset[str] = frozenset()
    """Words that are no other thing's name."""
    years: frozenset[str] = frozenset()
    """The years that belong to it."""
    unlike: Callable[[str], bool] | None = None
    """For a number: whether the numbers in a text are of another kind than it."""


def heads(text: str, about: About) -> Iterator[str]:
    """What a text says, in each way in which the rest of it only explains that."""
    begins = _explaining() | ({"of"} if about.unlike else set())
    edges = (edge for edge in _EDGE.finditer(text) if edge[1] is None or edge[1].lower() in begins)
    words = words_of(text)
    named = [form for form in {*about.right, *about.rivals} if find(form, words) >= 0]
    for edge in islice(edges, MOST_EDGES):
        head = text[: edge.start()]
        if (
            head
            and head.count("(") == head.count(")")
            and not _COPULA.search(head)
            and not any(_is_cut(form, head, text[edge.start() :]) for form in named)
            and only_explains(text[edge.start() :], about)
        ):
            yield head


def _is_cut(form: Words, head: str, rest: str) -> bool:
    """Whether an edge runs through a name: "fire and plank | with nails"."""
    return find(form, words_of(head)) < 0 and find(form, words_of(rest)) < 0


def only_explains(rest: str, about: About) -> bool:
    """Whether what stands behind a value neither doubts nor denies it, and claims nothing else in its place."""
    rest = _in_one_piece(rest, about.rivals)
    folded = fold(rest)
    if "?" in rest or _ADDS.match(folded) or _DENIES_IT.match(folded):
        return False
    if re.match(r"\s*[<>≥≤]", rest) and not _names_one(rest, about.rivals):
        return False
    opposite = opposites(about.asked)
    mark, depth, first = "", 0, True
    for number, part in enumerate(_CLAUSES.split(rest.replace("vs.", "vs"))):
        if number % 2:
            mark = part
            depth += (part in "([") - (part in ")]")
        elif words_of(part):
            apart = _is_apart if _names_one(part, about.rivals) else _is_harmless
            if not apart(_Clause(part, mark, depth > 0, first), opposite, about):
                return False
            first = False
    return True


def _in_one_piece(text: str, names: Collection[Words]) -> str:
    """A text without marks inside names, which would part them: "Cherry Hill, NJ"."""
    lower = text.lower()
    for form in names:
        if len(form) > 1 and form[0] in lower and form[-1] in lower:
            text = re.sub(_spread(form), lambda name: re.sub(r"[\W_]+", " ", name[0]), text, flags=re.IGNORECASE)
    return text


def _spread(form: Words) -> str:
    """The pattern of a name, with any marks between its words."""
    return rf"\b{_MARKS.join(map(re.escape, form))}\b"


class _Clause(NamedTuple):
    """A part of what stands behind a value: text, mark before it, whether it is in brackets, or the first."""

    said: str
    mark: str
    aside: bool
    first: bool


def _names_one(text: str, names: Collection[Words]) -> bool:
    words = words_of(text)
    return any(find(form, words) >= 0 for form in names)


def _each(said: str) -> set[str]:
    """The words of a clause, with and without what makes them other words."""
    return {*words_of(said), *re.findall(r"[\w']+", fold(said))}


def _doubts(each: set[str], about: About) -> bool:
    doubts = (hedges() - _PUTS_BEHIND - {"no", "neither", "nor", "never", "except"}) | _TURNS
    return any(word in doubts and not word.endswith("n't") for word in each - about.known)


def _beside(text: str, names: Collection[Words]) -> str:
    """A clause without the names in it, whose words deny nothing: "zoster without complications"."""
    folded = fold(text)
    for form in sorted(names, key=len, reverse=True):
        folded = re.sub(_spread(form), " ", folded)
    return folded


def _is_apart(clause: _Clause, opposite: Collection[str], about: About) -> bool:
    """Whether a clause names another thing only to say that it is not the one."""
    beside = _beside(clause.said, about.rivals)
    each, denied = _each(clause.said), _DENIAL.search(beside) is not None
    if _doubts(each, about) or (each & about.asked & _opposites().keys() and not denied and "than" not in each):
        return False
    if clause.first and not clause.mark and each & set(opposite):
        return False
    if about.asked & {"no", "not", "without"} and re.search(r"\b(?:not?|none)\b", fold(clause.said)):
        return False
    sign = re.match(r"\s*([<>])", clause.said)
    if sign:
        return (sign[1] == "<") == bool(about.asked & _little())
    return bool(denied or _each(beside) & (_PUTS_BEHIND | _verbs()) or (clause.aside and re.search(r"\d", clause.said)))


def _of_rivals(about: About) -> frozenset[str]:
    """The words that only names of wrong things have."""
    mine = {word for form in about.right for word in form} | about.asked
    return frozenset(word for form in about.rivals for word in form) - mine


def _is_harmless(clause: _Clause, opposite: Collection[str], about: About) -> bool:
    """Whether a clause that names no other thing contradicts nothing and adds nothing."""
    said, mark, aside, first = clause
    folded, words, each = fold(said), words_of(said), _each(said)
    denied = _DENIAL.search(folded) is not None
    if _doubts(each, about) or each & (_RANKS | set(opposite)) - about.asked or _DENIES_ALL.search(folded):
        return False
    if denied and _names_one(said, about.right):
        return False
    if about.years and first and set(_YEAR.findall(said)) - about.years:
        return False
    if about.unlike is not None:
        if denied and first and not aside and not re.search(r"\d", said):
            return False
        counts = not re.search(r"\d", said) or about.unlike(said)
        return counts or aside or bool(each & _BEYOND and not each & about.known)
    proper = [word for name in _PROPER.findall(_MAKER.sub("", f"{mark}{said}")) for word in words_of(name)]
    if any(word not in about.known | about.asked for word in proper) and not (aside and about.asked & TITLED):
        return False
    strange = [word for word in words if word not in about.known | about.asked]
    line = _LINE.match(said) if "\n" in mark else None
    if line and not set(words_of(line["of"])) <= about.known | about.asked | _explaining():
        return False
    bare = not aside and not each & _explaining() and not denied and not _MEASURE.search(folded)
    return not (bare and ((strange and len(strange) <= 3) or _of_rivals(about).issuperset(words)))


TITLED = frozenset({"title", "titles", "book", "books", "film", "films"})
"""What has somebody who made it, who may be named in brackets."""


@cache
def _explaining() -> frozenset[str]:
    """Words with which an explanation begins."""
    return frozenset(vocabulary().names["explaining"].split())


@cache
def _verbs() -> frozenset[str]:
    return frozenset(vocabulary().names["verbs"].split())


@cache
def _little() -> frozenset[str]:
    return frozenset(vocabulary().names["little"].split())


def opposites(asked: Collection[str]) -> set[str]:
    """The words that say the opposite of some that were asked for."""
    return {other for word in asked for other in _opposites().get(word, ())} - set(asked)


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """For a word such as `cheapest` those that say the opposite."""
    pairs = [pair.split("-") for pair in vocabulary().names["opposites"].split()]
    return {
        word: frozenset(other for pair in pairs if word in pair for other in pair if other != word)
        for word in {word for pair in pairs for word in pair}
    }


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
    match = (
        _TURNED_DOWN_FIRST.match(text) or _BUT_IT_IS.match(text) or _NOT_BUT.match(text) or _NOT_BUT_THIS.match(text)
    )
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


_FOUND = re.compile(
    r"^(?:(?:stay|go|drive|head|start|starts|starting|begin|begins|take|choose|pick|visit|try)\s+"
    r"(?:(?:at|to|in|with|from)\s+)?|by\s+)(?=\S)|^(?:so,?\s+)?(?:you|we|i|they|it|that|this)(?:['’](?:ll|d|ve|re))?\s+(?:(?:will|can|would|should)\s+)?"
    r"(?:find|found|get|got|have|see|saw|need|want|keep|be|received)\s+"
    r"(?:(?:it|this|them|that)\s+)?(?:at\s+|in\s+|under\s+)?(?=\S)",
    re.IGNORECASE,
)
"""What somebody says who has found something: "You'll find it at …"."""


def without_lead(text: str, asked: str) -> str:
    """A text without words before it that only announce it or repeat the question: "The study's number is …"."""
    text = _FOUND.sub("", text)
    match = _LEAD.match(text)
    if match is None:
        return text
    names = vocabulary().names
    allowed = {"s", *words_of(f"{names['saying']} {names['announcing']} {asked}")}
    said = {word for word in words_of(match["lead"]) if word not in allowed and not word.isdigit()}
    return match["rest"] if {word.removesuffix("s") for word in said} <= allowed else text
