"""The person and the documents of a task, drawn from a family's tables, and the calls that ask and read them.

What is said, asked and written stands in the family's file, in several wordings each. Values are drawn by the family;
whoever solves a task takes them from what the person and the documents really said.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from m3bench.tasks.desk import Desk, Document, Known, Refusal
from m3bench.tasks.families.base import Composition, call, need
from m3bench.tasks.families.texts import Tables
from m3bench.tasks.task import ReferenceCall

_CODES = ("HB", "OP", "RX", "DK", "GL", "MN", "QS", "TV")
"""What the names of documents begin with."""


class _Texts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Topic(_Texts):
    """Something that a person can be asked about."""

    asked: tuple[str, ...]
    """Beginnings of words, and phrases, that a question about it has."""
    ask: tuple[str, ...]
    """Ways to ask."""
    said: tuple[str, ...]
    """Ways to answer, with the value."""
    change: tuple[str, ...] = ()
    """Ways to announce another value."""


class Denial(_Texts):
    """Something that the rules do not allow the person."""

    about: tuple[str, ...]
    wants: tuple[str, ...]
    said: tuple[str, ...]


class Paper(_Texts):
    """A document."""

    titles: tuple[str, ...]
    texts: tuple[str, ...]
    """With `{rows}`: a line for each case."""


class TalkTables(Tables):
    """What a family with a person needs."""

    topics: dict[str, Topic]
    denials: tuple[Denial, ...]
    papers: dict[str, Paper]
    confirm: tuple[str, ...]
    """Ways to have confirmed what the person said, with `{said}`."""


def with_desk(
    composition: Composition,
    rng: random.Random,
    tables: TalkTables,
    values: Mapping[str, tuple[str, ...]],
    rows: Mapping[str, Mapping[str, str]],
) -> Composition:
    """A composition whose scene has a person and documents.

    Args:
        composition: The picture.
        rng: Where wordings come from.
        tables: The family's texts.
        values: What the person knows by topic, and after it what that becomes when they change their mind.
        rows: By document, what holds in each case.
    """
    facts = [_known(rng, tables.topics[name], *said) for name, said in values.items()]
    numbers = rng.sample(range(11, 99), len(tables.papers))
    code = rng.choice(_CODES)
    papers = [
        Document(
            name=f"{code}-{number}",
            title=rng.choice(paper.titles),
            text=_paragraphs(rng.choice(paper.texts)).format(
                rows="\n".join(f"- {case}: {rule}" for case, rule in rows.get(key, {}).items())
            ),
        )
        for number, (key, paper) in zip(numbers, tables.papers.items(), strict=True)
    ]
    desk = Desk(
        facts=tuple(facts),
        refusals=tuple(
            Refusal(about=denial.about, wants=denial.wants, said=rng.choice(denial.said)) for denial in tables.denials
        ),
        documents=tuple(sorted(papers, key=lambda paper: paper.name)),
    )
    return replace(composition, scene=replace(composition.scene, desk=desk))


def _known(rng: random.Random, topic: Topic, value: str, later: str = "") -> Known:
    said = rng.choice(topic.said)
    return Known(
        asked=topic.asked,
        said=said.format(value=value),
        value=value,
        later=said.format(value=later) if later else "",
        change=rng.choice(topic.change).format(value=later) if later else "",
    )


def _paragraphs(text: str) -> str:
    """A text of the family's file with its paragraphs in one line each."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def changed(rng: random.Random, numbers: range) -> tuple[str, str]:
    """A number, and the one that is clearly another and takes its place."""
    first = rng.choice(numbers)
    later = rng.choice([number for number in numbers if abs(number - first) >= 0.15 * first])
    return str(first), str(later)


def limits(rng: random.Random, cases: Sequence[str], numbers: range, written: str, parts: int = 1) -> dict[str, str]:
    """A limit for each case, no two alike.

    Args:
        rng: Where numbers come from.
        cases: What there is a limit for.
        numbers: What a limit may be, in parts.
        written: How it is written, with `{value}`.
        parts: How many parts make one.
    """
    drawn = rng.sample(numbers, len(cases))
    spelled = [f"{number / parts:.2f}" if parts > 1 else str(number) for number in drawn]
    return {case: written.format(value=value) for case, value in zip(cases, spelled, strict=True)}


def documents() -> ReferenceCall:
    """Which documents there are."""
    return call("desk/list_documents", {})


def question(text: str) -> ReferenceCall:
    """A question to the person."""
    return call("desk/ask_user", {"question": text})


def document(listing: str, paper: Paper) -> ReferenceCall:
    """One of the documents that are listed, by its title."""
    names = [
        name for name, _, title in (line.partition(": ") for line in listing.splitlines()) if title in paper.titles
    ]
    need(len(names) == 1, "the document is not there")
    return call("desk/read_document", {"name": names[0]})


def rules(text: str) -> dict[str, str]:
    """What a document says of each case."""
    return dict(re.findall(r"^- ([^:\n]+): (.+)$", text, re.MULTILINE))
