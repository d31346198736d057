"""Matching by words, as the paper has it: calls of one tool are alike as far as the embeddings of their texts are.

Equal texts are equal calls: similarity 1, with nothing to compute. Only calls of the same tool may match; in each
tool's bucket the assignment is Hungarian. Most buckets are decided without embedding or solving anything; each
shortcut gives the result the solver would give, ties included, so that match sets equal the public evaluator's.
Vectors come in from outside: this module embeds nothing.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from m3bench.server.scoring.alignment import STRONG, WEAK, CallAlignment, CallMatch, ScorableRun
from m3bench.server.scoring.differences import differences
from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.signatures import Signatures, ToolSignature
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.tolerance import read_as
from m3bench.tasks.trajectory import JSON, Call, Trajectory

if TYPE_CHECKING:
    from m3bench.server.scoring.alignment import Vectors
    from m3bench.server.scoring.matching import assignment
else:
    # It needs numpy, which a server does not load before something is to be assigned.
    assignment = LazyModule("m3bench.server.scoring.matching.assignment")

_EXACT_FLOAT = 2.0**53


class KeyedCall(NamedTuple):
    """A call as the assignment sees it."""

    place: int
    """Index among the flattened calls."""
    tool: str
    text: str
    key: str
    """Equal keys are equal calls: similarity 1, with nothing to compute."""


class CallPair(NamedTuple):
    """A reference call and the actual call that answers it, as indices of the flattened calls."""

    reference: int
    actual: int
    similarity: float


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """The calls of one tool on both sides."""

    reference: tuple[KeyedCall, ...]
    actual: tuple[KeyedCall, ...]

    @property
    def texts(self) -> dict[str, str]:
        """What must be embedded to solve it: texts by key."""
        return {call.key: call.text for call in self.reference + self.actual}


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """The calls of all tools: pairs that are known without embedding, and what is left to solve."""

    settled: tuple[CallPair, ...]
    open: tuple[Bucket, ...]


@dataclass(frozen=True, kw_only=True)
class TextMatching:
    """One way to write calls as texts, and to match them by the similarity of these."""

    name: str
    """Of the profile."""
    arguments: Callable[[Call, ToolSignature | None], JSON]
    """The arguments in the form that is compared."""
    text: Callable[[Call, JSON], str]
    """The text of a call, given those arguments."""
    canonical: bool
    """Whether ties are broken by what the calls are, not by how they happen to be listed: equal means equal text,
    and calls of a step are aligned in the order of their texts. If not, calls that the encoder cannot tell apart
    (another case, another spacing) are equal, and the listed order decides, as in the public evaluator."""
    weak: float = WEAK
    strong: float = STRONG

    @property
    def ceiling(self) -> float:
        """Highest similarity of calls that are not equal; below 1 by more than rounding when equal means text."""
        return 1.0 - 1e-6 if self.canonical else 1.0

    def key(self, text: str, encoder: Encoder) -> str:
        """What two texts have in common when the calls are equal."""
        return text if self.canonical else encoder.key(text)

    def prepare(self, run: ScorableRun, signatures: Signatures, encoder: Encoder | None) -> Sequence["PendingBuckets"]:
        """One alignment for each reference, as far as it is known without embedding a text."""
        if encoder is None:
            raise ValueError(f"profile {self.name} compares texts and needs an encoder")
        plain = self._written(run.actual, signatures, encoder)
        return [self._pending(run.actual, plain, reference, signatures, encoder) for reference in run.references]

    def _pending(
        self, actual: Trajectory, plain: "_Written", reference: Trajectory, signatures: Signatures, encoder: Encoder
    ) -> "PendingBuckets":
        """The run as one reference reads it, beside that reference."""
        tolerant = self.canonical and any(call.tolerances for call in reference.calls)
        read = self._written(actual, signatures, encoder, _Reader(reference)) if tolerant else plain
        wanted = self._written(reference, signatures, encoder)
        return PendingBuckets(
            matching=self, reference=wanted, actual=read, buckets=in_buckets(wanted.keyed, read.keyed)
        )

    def _written(
        self,
        trajectory: Trajectory,
        signatures: Signatures,
        encoder: Encoder,
        read: Callable[[Call], Call] = lambda call: call,
    ) -> "_Written":
        arguments: list[JSON] = []
        keyed: list[KeyedCall] = []
        for step in trajectory.steps:
            of_step = []
            for call in step.calls:
                compared = self.arguments(read(call), signatures(call.tool))
                text = self.text(call, compared)
                # References consist of calls that succeed, so in `m3` one that failed cannot be any of them.
                if not (call.failed and self.canonical):
                    of_step.append(KeyedCall(len(arguments), call.tool, text, self.key(text, encoder)))
                arguments.append(compared)
            if self.canonical:
                of_step.sort(key=lambda call: call.text)
            keyed += of_step
        return _Written(trajectory=trajectory, arguments=tuple(arguments), keyed=tuple(keyed))


@dataclass(frozen=True, kw_only=True)
class _Written:
    """A trajectory with the texts of its calls."""

    trajectory: Trajectory
    arguments: tuple[JSON, ...]
    keyed: tuple[KeyedCall, ...]


@dataclass(frozen=True, kw_only=True)
class PendingBuckets:
    """The alignment with one reference, with buckets that wait for the similarity of texts."""

    matching: TextMatching
    reference: _Written
    actual: _Written
    buckets: Buckets

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts to embed, by key."""
        return {key: text for bucket in self.buckets.open for key, text in bucket.texts.items()}

    def settle(self, vectors: "Vectors") -> CallAlignment:
        """The alignment, given the unit vectors of those texts by key."""
        pairs = list(self.buckets.settled)
        for bucket in self.buckets.open:
            pairs += solve(bucket, vectors, self.matching.weak, self.matching.ceiling)
        wanted, made = self.reference.arguments, self.actual.arguments
        return CallAlignment(
            matches={
                pair.reference: CallMatch(
                    actual=(pair.actual,),
                    similarity=pair.similarity,
                    differences=differences(wanted[pair.reference], made[pair.actual]),
                )
                for pair in sorted(pairs)
            },
            reference_sizes=tuple(len(step.calls) for step in self.reference.trajectory.steps),
            actual_steps=tuple(n for n, step in enumerate(self.actual.trajectory.steps) for _ in step.calls),
        )


class _Reader:
    """Reads calls as a reference does that tolerates other values.

    Each call is read as the tolerant reference call that it is most like. Of several that it is like to the same
    degree, the one that was read least so far takes it, so that calls which differ in nothing that counts are not
    all taken for the same one.
    """

    def __init__(self, reference: Trajectory) -> None:
        self._tolerant = [call for call in reference.calls if call.tolerances]
        self._taken: Counter[int] = Counter()

    def __call__(self, call: Call) -> Call:
        best: tuple[int, int] | None = None
        read = call
        for index, wanted in enumerate(self._tolerant):
            if wanted.tool != call.tool:
                continue
            arguments = read_as(wanted.arguments, wanted.tolerances, call.arguments)
            same = sum(wanted.arguments.get(name) == value for name, value in arguments.items())
            alike = (same - len(wanted.arguments.keys() ^ arguments.keys()), -self._taken[index])
            if best is None or alike > best:
                best, chosen, read = alike, index, Call(tool=call.tool, arguments=arguments)
        if best is not None:
            self._taken[chosen] += 1
        return read


def in_buckets(reference: Iterable[KeyedCall], actual: Iterable[KeyedCall]) -> Buckets:
    """Split the calls into buckets and settle those that need no similarity.

    A tool on one side only has no matches. When the keys of one side are contained in those of the other, pairing
    equal keys costs nothing and so is optimal; of several equal keys the first go together, as in the solver.
    """
    settled: list[CallPair] = []
    unsettled: list[Bucket] = []
    actual_by_tool = _by_tool(actual)
    for tool, references in _by_tool(reference).items():
        actuals = actual_by_tool.get(tool)
        if actuals is None:
            continue
        if _contained(references, actuals):
            settled += _pair_equal(references, actuals)
        else:
            unsettled.append(Bucket(reference=tuple(references), actual=tuple(actuals)))
    return Buckets(settled=tuple(settled), open=tuple(unsettled))


def solve(bucket: Bucket, vectors: "Vectors", threshold: float, ceiling: float = 1.0) -> Iterator[CallPair]:
    """The best assignment in one bucket.

    Args:
        bucket: The calls of one tool.
        vectors: Unit vectors by key, of all the bucket's texts.
        threshold: The weak threshold.
        ceiling: Highest similarity of calls that are not equal.
    """
    rows, columns = ([call.key for call in side] for side in (bucket.reference, bucket.actual))
    similarity = assignment.cosines(rows, columns, vectors, ceiling)
    for row, column in assignment.assign(similarity, threshold):
        yield CallPair(bucket.reference[row].place, bucket.actual[column].place, float(similarity[row, column]))


def _by_tool(calls: Iterable[KeyedCall]) -> dict[str, list[KeyedCall]]:
    buckets: dict[str, list[KeyedCall]] = {}
    for call in calls:
        buckets.setdefault(call.tool, []).append(call)
    return buckets


def _contained(references: Sequence[KeyedCall], actuals: Sequence[KeyedCall]) -> bool:
    if len(references) == len(actuals) == 1:
        return references[0].key == actuals[0].key
    small, large = sorted((Counter(call.key for call in side) for side in (references, actuals)), key=Counter.total)
    return small <= large


def _pair_equal(references: Sequence[KeyedCall], actuals: Sequence[KeyedCall]) -> Iterator[CallPair]:
    waiting: dict[str, deque[KeyedCall]] = {}
    for call in actuals:
        waiting.setdefault(call.key, deque()).append(call)
    for call in references:
        if queue := waiting.get(call.key):
            yield CallPair(call.place, queue.popleft().place, 1.0)


def public_arguments(call: Call, signature: ToolSignature | None) -> JSON:
    """The arguments as they are; `None` when there were none."""
    return None if call.bare else call.arguments


def public_text(call: Call, arguments: JSON) -> str:
    """JSON of the arguments alone: keys sorted, list order kept, non-ASCII kept, `null` when absent."""
    return _dump(arguments)


def m3_arguments(call: Call, signature: ToolSignature | None) -> JSON:
    """The arguments in one spelling: numbers normalised, defaults dropped, unordered arrays sorted."""
    arguments = {name: _normal(value) for name, value in call.arguments.items()}
    if signature is not None:
        for name in signature.unordered & arguments.keys():
            value = arguments[name]
            if isinstance(value, list):
                arguments[name] = sorted(value, key=_dump)
        for name, default in signature.defaults.items():
            # Compared as text: in Python True == 1, in JSON it does not.
            if name in arguments and _dump(arguments[name]) == _dump(_normal(default)):
                del arguments[name]
    return arguments


def m3_text(call: Call, arguments: JSON) -> str:
    """The tool's name, a space, JSON of the arguments with sorted keys; absent arguments are an empty object."""
    return f"{call.tool} {_dump(arguments)}"


def _normal(value: JSON) -> JSON:
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_FLOAT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value


def _dump(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # A lone surrogate is legal in JSON and in no encoding.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


M3_TEXT = TextMatching(name="m3", arguments=m3_arguments, text=m3_text, canonical=True)
PUBLIC_TEXT = TextMatching(name="open-m3-bench", arguments=public_arguments, text=public_text, canonical=False)

TEXT_MATCHINGS: Mapping[str, TextMatching] = MappingProxyType({each.name: each for each in (M3_TEXT, PUBLIC_TEXT)})
