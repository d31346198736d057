"""The benchmark as an Inspect task: a sample for each attempt at a task, and the score card as an Inspect score.

References, checks and answers stay on the server's side: a sample holds what any client is told, the question and the
picture. The card is computed once, by the server that recorded the calls; nothing is scored again here. A metric
without a value is NaN, which Inspect leaves out of its means and does not take for 0.
"""

from base64 import b64encode
from collections.abc import Sequence

from inspect_ai import Task as InspectTask
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentImage,
    ContentText,
    ContentVideo,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Solver, TaskState
from mcp_types import ImageContent

from m3bench.server.lab.headless.inspect_tools import shown_image
from m3bench.server.lab.headless.plan import SampleAttempt
from m3bench.server.runs.handin import wanted_lines
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.statistics.estimates import Estimate, Kind, estimate
from m3bench.tasks.errors import RunError
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, Task, picture_type, recording_type

CARD, RUN, ANSWER = "m3bench/card", "m3bench/run", "m3bench/answer"
"""Where a sample's store has the score card, the run's handle and the answer that was handed in."""

FACTS = ("task", "family", "checks", "outcomes", "excluded", "reference", "ranges", "scoring_profile")
"""Fields of a score card that go along with its numbers."""

VALUES = (*AVERAGED, "average", "success", "m3_average")


@metric
def mean() -> Metric:
    """The mean over tasks of the means over their repeats, as every table of ours has it."""

    def computed(scores: list[SampleScore]) -> float:
        found = _estimate(scores)
        return float("nan") if found is None else found.value

    return computed


@metric
def stderr(of: Kind = "average") -> Metric:
    """The standard error of that mean, with families as clusters."""

    def computed(scores: list[SampleScore]) -> float:
        found = _estimate(scores, of)
        return float("nan") if found is None or found.error is None else found.error

    return computed


def _estimate(scores: list[SampleScore], of: Kind = "average") -> Estimate | None:
    tries: dict[str, list[float]] = {}
    families: dict[str, str | None] = {}
    for sample in scores:
        facts = sample.score.metadata or {}
        task = str(facts.get("task", sample.sample_id))
        tries.setdefault(task, []).append(sample.score.as_float())
        families[task] = facts.get("family")
    return estimate({task: sum(values) / len(values) for task, values in tries.items()}, families, of=of)


@scorer(metrics={name: [mean(), stderr("solved" if name == "success" else "average")] for name in VALUES})
def scorecard() -> Scorer:
    """The score card of the sample's run."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.store.get(CARD)
        if found is None:
            raise RunError("The sample ended before its answer could be handed in: there is nothing to score.")
        return score_of(read_card(found), state.store.get(RUN), state.store.get(ANSWER))

    return score


def score_of(card: ScoreCard, run: str, answer: str) -> Score:
    """A score card as a score."""
    data = card.to_json()
    numbers = {**card.numbers, "success": card.success}
    return Score(
        value={name: float("nan") if (value := numbers.get(name)) is None else float(value) for name in VALUES},
        answer=answer,
        explanation=markdown(card),
        metadata={
            "run": run,
            **{name: data[name] for name in FACTS},
        },
    )


NAME = "m3"

PROMPT = """\
# Task {id}

{question}

{media}
Files that tools write lie in the same folder. At most {max_calls} calls can be made.{fields}"""

FIELDS = """

Fields to hand in beside the answer, by name:
{lines}"""


def inspect_task(
    library: Library,
    attempts: Sequence[tuple[SampleAttempt, str]],
    solver: Solver,
    max_calls: int,
    *,
    sighted: bool = True,
    hearing: bool = False,
) -> InspectTask:
    """The Inspect task for attempts, each with its profile; for a model that sees no pictures, without them.

    Recordings go only to models that are said to take them.
    """
    told: dict[str, list[Content]] = {}
    for attempt, _ in attempts:
        if attempt.task not in told:
            task = library.task(attempt.task)
            told[attempt.task] = prompt(library, task, max_calls, sighted=sighted, hearing=hearing)
    return _task(library, [_sample(library, *attempt, told[attempt[0].task]) for attempt in attempts], solver)


def places(library: Library, count: int, solver: Solver) -> InspectTask:
    """The Inspect task for so many attempts that are not known yet: each is found when its turn has come."""
    return _task(library, [InspectSample(id=f"place-{number}", input="") for number in range(1, count + 1)], solver)


def sample_of(
    library: Library,
    attempt: SampleAttempt,
    profile: str,
    max_calls: int,
    *,
    sighted: bool = True,
    hearing: bool = False,
) -> InspectSample:
    """The sample of one attempt."""
    told = prompt(library, library.task(attempt.task), max_calls, sighted=sighted, hearing=hearing)
    return _sample(library, attempt, profile, told)


def _sample(library: Library, attempt: SampleAttempt, profile: str, told: list[Content]) -> InspectSample:
    return InspectSample(
        id=attempt.task if attempt.repeat == 1 else f"{attempt.task}#{attempt.repeat}",
        input=[ChatMessageUser(content=told)],
        metadata={
            "task": attempt.task,
            "family": library.task(attempt.task).family,
            "repeat": attempt.repeat,
            "profile": profile,
        },
    )


def _task(library: Library, samples: list[InspectSample], solver: Solver) -> InspectTask:
    return InspectTask(
        name=NAME,
        dataset=MemoryDataset(samples, name=library.set.name),
        solver=solver,
        scorer=scorecard(),
        headline_metric="scorecard.average",
        fail_on_error=False,
        version=library.set.version,
        metadata={"tasks": library.hash},
    )


def prompt(
    library: Library, task: Task, max_calls: int, *, sighted: bool = True, hearing: bool = False
) -> list[Content]:
    """What the model is told: the question, the paths of the pictures, what to hand in, and the pictures.

    A model that is not shown the pictures is told that there are some; so too with recordings.
    """
    paths = ", ".join(f"./{MEDIA}/{name}" for name in task.pictures)
    where = {0: "", 1: f"The picture is attached; for the tools it lies at {paths}."}.get(
        len(task.pictures), f"The pictures are attached; for the tools they lie at {paths}."
    )
    if not sighted and task.pictures:
        noun, pronoun = ("picture", "it") if len(task.pictures) == 1 else ("pictures", "them")
        where = f"The {noun} cannot be shown to you; tools find {pronoun} at {paths}."
    media = "\n".join(part for part in (where, _recordings(task, hearing=hearing)) if part)
    lines = "\n".join(wanted_lines(task, sighted=sighted))
    fields = FIELDS.format(lines=lines) if lines else ""
    text = PROMPT.format(id=task.id, question=task.question, media=media, max_calls=max_calls, fields=fields)
    shown = task.pictures if sighted else ()
    played = task.recordings if hearing else ()
    return [
        ContentText(text=text),
        *(ContentImage(image=_url(library, name)) for name in shown),
        *(_played(library, name) for name in played),
    ]


def _recordings(task: Task, *, hearing: bool) -> str:
    """Where the recordings are, and what reads them when they are not played."""
    if not task.recordings:
        return ""
    paths = ", ".join(f"./{MEDIA}/{name}" for name in task.recordings)
    many = len(task.recordings) > 1
    noun, verb, pronoun = ("recordings", "are", "them") if many else ("recording", "is", "it")
    if hearing:
        return f"The {noun} {verb} attached; for the tools {'they lie' if many else 'it lies'} at {paths}."
    return (
        f"The {noun} cannot be played to you; tools find {pronoun} at {paths}. Those whose names begin with recordings "
        "write down what is said, find tones, take out noise, cut passages and take pictures out of films."
    )


def _played(library: Library, name: str) -> ContentAudio | ContentVideo:
    kind = recording_type(name)
    url = f"data:{kind};base64,{b64encode(library.recording(name)).decode()}"
    if kind.startswith("video/"):
        return ContentVideo(video=url, format="mp4")
    return ContentAudio(audio=url, format="mp3" if name.endswith(".mp3") else "wav")


def with_pictures(messages: Sequence[ChatMessage], pictures: Sequence[ImageContent]) -> list[ChatMessage]:
    """A conversation with the pictures that the run's server sent, which carry its mark, in place of the set's."""
    first, *others = messages
    if not isinstance(first.content, list):
        return list(messages)
    sent = map(shown_image, pictures)
    content = [next(sent, part) if isinstance(part, ContentImage) else part for part in first.content]
    return [first.model_copy(update={"content": content}), *others]


def _url(library: Library, name: str) -> str:
    kind = picture_type(name)
    return f"data:{kind};base64,{b64encode(library.picture(name)).decode()}"
