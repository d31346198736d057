"""What a probe sees of one client: who it says it is, what it asks for, and every call with its times.

These notes are the journal of the probe's router. They are kept in memory only and draw no conclusions:
`probe_findings` makes a capability card from them.

The code words of a probe, and the picture and the long text that carry them, are drawn here too. A word is six capital
letters that nobody can guess and everybody can read. Words of one probe differ in at least three letters, so that one
misread letter still tells which was meant. Everything comes from a seed: same seed, same bytes.
"""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypedDict

from PIL import Image

from m3bench.proxy.protocol.tool_calls import AnswerDelivery, ToolAnswer, ToolRequest
from m3bench.tasks.drawing.files import png
from m3bench.tasks.drawing.fonts import regular
from m3bench.tasks.drawing.sheet import Sheet

CONSONANTS, VOWELS = "BDFGKLMNPRTVZ", "AEIOU"
APART = 3
"""Letters in which two words of one probe differ."""

DEPTHS = (5_000, 10_000, 25_000, 50_000, 100_000, 200_000, 350_000, 500_000, 700_000, 900_000)
"""Where marker words stand in a long text, in characters."""

_FILLER = (
    "The river runs past the mill and under the stone bridge.",
    "A cart of apples waits at the gate.",
    "Two boats lie on the bank, and nobody is near.",
    "The bell rings nine times on market days.",
    "Rain came in the night, and the road is soft.",
    "The miller counts his sacks by the open door.",
)

_SIZE, _LETTERS = (520, 180), 96


@dataclass(frozen=True)
class LongText:
    """A text with marker words in it."""

    text: str
    markers: tuple[tuple[int, str], ...]
    """Where each marker ends, in characters, and its word."""


class CodeWords:
    """Gives out words, each of them once and none too much like an earlier one."""

    def __init__(self, seed: str, taken: Iterable[str] = ()) -> None:
        self._random = Random(seed)
        self._given = list(taken)

    def next(self) -> str:
        """A word that is like none given before."""
        while True:
            word = "".join(self._random.choice(letters) for letters in (CONSONANTS, VOWELS) * 3)
            if all(distance(word, other) >= APART for other in self._given):
                self._given.append(word)
                return word


def distance(one: str, other: str) -> int:
    """In how many places two words differ."""
    return sum(left != right for left, right in zip(one, other, strict=False)) + abs(len(one) - len(other))


def is_among(word: str, said: Iterable[str], *, misread: int = 0) -> bool:
    """Whether a word was typed back, in any case and context; a picture's may have one letter misread."""
    found = {part for text in said for part in re.findall(r"[A-Z]+", text.upper())}
    return any(distance(word, part) <= misread for part in found)


def picture(word: str) -> bytes:
    """A PNG with the word in large letters."""
    width, height = _SIZE
    sheet = Sheet(Image.new("RGB", _SIZE, "#f4efe2"))
    sheet.frame(8, 8, width - 9, height - 9, (43, 74, 111), 4)
    sheet.text(width / 2, height / 2, word, regular(_LETTERS), (28, 39, 51), anchor="mm")
    return png(sheet.image)


def long_text(words: CodeWords, size: int) -> LongText:
    """A plain text of `size` characters with a marker at each depth that it reaches, the last at its very end."""
    parts: list[str] = []
    markers: list[tuple[int, str]] = []
    length = 0
    for depth in (*(depth for depth in DEPTHS if depth < size), size):
        word = words.next()
        line = f"MARKER {word}\n"
        filler = _filler(depth - length - len(line), length)
        parts += (filler, line)
        length += len(filler) + len(line)
        markers.append((length, word))
    return LongText("".join(parts), tuple(markers))


def _filler(size: int, start: int) -> str:
    """Sentences, one a line, cut to a size that ends in a line's end."""
    if size <= 0:
        return ""
    lines: list[str] = []
    length, number = 0, start
    while length < size:
        lines.append(f"{number} {_FILLER[number % len(_FILLER)]}\n")
        length += len(lines[-1])
        number += 1
    return "".join(lines)[: size - 1] + "\n"


@dataclass(kw_only=True)
class NotedCall:
    """A call to a tool of the probe."""

    tool: str
    request: ToolRequest
    answered_ns: int = 0
    sent_ns: int = 0
    """0 when the answer never left."""
    cancelled: bool = False


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """The words of one round; what is typed back of them was seen."""

    control: str
    """In the text of the first answer, which every client shows."""
    picture: str
    mixed_text: str
    mixed_picture: str
    mixed_data: str
    slow: str
    long: LongText

    @classmethod
    def draw(cls, seed: str, long: int, taken: Iterable[str]) -> "Secrets":
        """The words of a seed, and a long text of that many characters."""
        words = CodeWords(seed, taken)
        return cls(
            control=words.next(),
            picture=words.next(),
            mixed_text=words.next(),
            mixed_picture=words.next(),
            mixed_data=words.next(),
            slow=words.next(),
            long=long_text(words, long),
        )


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A tool that is there to be seen in the list."""

    word: str
    place: int
    """How many tools of the list come up to and with it."""
    page: int


@dataclass(kw_only=True)
class Listed:
    """A page of the tool list that was asked for."""

    page: int
    tools: int
    at_ns: int


class FinishReport(TypedDict, total=False):
    """What the model tells at the end, as the schema of `probe_finish` has it."""

    words: list[str]
    tools: int
    long: str


@dataclass(kw_only=True)
class Notes:
    """One client, as the probe knows it."""

    client: str
    """Name and version, as the calls say them."""
    info: Mapping[str, object] = field(default_factory=dict)
    """What it says of itself in `clientInfo`."""
    capabilities: tuple[str, ...] = ()
    revision: str = ""
    sessions: int = 0
    """Handshakes; the newest revision has none."""
    listed: list[Listed] = field(default_factory=list)
    listens: bool = False
    """Whether it subscribed to changes of the tool list."""
    told_ns: int = 0
    """When it was told that the tool list had changed; 0 when never."""
    marks: tuple[Mark, ...] = ()
    profile: str = ""
    calls: list[NotedCall] = field(default_factory=list)
    round: int = 0
    """How often it began."""
    first: int = 0
    """The call that began the round."""
    secrets: Secrets | None = None
    said: FinishReport | None = None
    """What the model told at the end; None until then."""

    def begin(self, secrets: Secrets) -> None:
        """A new round, of which nothing is known yet."""
        self.round += 1
        self.first = max((number for number, call in enumerate(self.calls) if call.tool == "probe_start"), default=0)
        self.secrets = secrets
        self.said = None
        self.told_ns = 0

    def tell(self) -> None:
        """The client is told now that the tool list has changed."""
        self.told_ns = time.monotonic_ns()

    def of(self, tool: str) -> list[NotedCall]:
        """The calls to a tool in this round."""
        return [call for call in self.calls[self.first :] if call.tool == tool]

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Note a call before it is answered."""
        self.revision = request.caller.revision or self.revision
        self.calls.append(NotedCall(tool=tool, request=request))
        return len(self.calls) - 1

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Note how a call ended."""
        noted = self.calls[call]
        noted.answered_ns = time.monotonic_ns()
        noted.cancelled = answer.owner == "client"

    def sent(self, call: int, sent_ns: int) -> None:
        """Note when the answer left."""
        self.calls[call].sent_ns = sent_ns
