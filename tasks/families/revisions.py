"""Drafts of pages that are to be revised: what closed-loop families have in common.

A family states the page as it should be and the same page with faults; what the reference changes, what the checks let
nobody touch, and what careless agents would do follow from the two. Played, a draft is opened and rendered, then revised
by what was seen and looked up, and rendered again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from m3bench.tasks.answers.fields import Field, File
from m3bench.tasks.answers.files import Content
from m3bench.tasks.answers.pages import PageKept
from m3bench.tasks.families.base import Composition, Script, call, need
from m3bench.tasks.studio.draft import Draft
from m3bench.tasks.studio.page import Attribute, Element, Page
from m3bench.tasks.task import ReferenceCall


@dataclass(frozen=True, kw_only=True)
class Work:
    """A draft, and what is to become of it."""

    name: str
    """Of its file."""
    title: str
    draft: Page
    right: Page
    holds: tuple[Content, ...]
    """What the finished file must have, besides what was right in the draft."""
    asked: frozenset[str]
    """Elements that are changed by what somebody looks up, rendered or not."""
    everything: Page
    """The right page with every mending that the family knows, needed or not: what somebody gets who never looks."""
    estimated: Page
    """The right page with the mendings of somebody who guesses how wide a line is by counting letters."""
    loose: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By element, attributes that may be mended in more ways than by those that the reference changes."""


def with_work(composition: Composition, work: Work) -> Composition:
    """A composition whose scene has the draft, and which knows what is to become of it."""
    draft = Draft(name=work.name, title=work.title, data=work.draft.svg().encode())
    scene = replace(composition.scene, drafts=(draft,))
    return replace(composition, scene=scene, facts={**composition.facts, "work": work})


async def opened(work: Work, play: Script, *lookups: ReferenceCall) -> list[str]:
    """Find the draft while things are looked up, open it and look at it; returns what the lookups told."""
    listing, *told = await play.step(call("studio/list_drafts", {}), *lookups)
    need(work.name in listing, "the draft is not there")
    await play.step(call("studio/open_draft", {"name": work.name}))
    await play.step(*_looks(work))
    return told


async def revised(work: Work, play: Script) -> None:
    """Change what is wrong, and look again."""
    await play.step(*edits(work))
    await play.step(*_looks(work))


def _looks(work: Work) -> list[ReferenceCall]:
    """Every sheet is rendered."""
    first = call("studio/render_page", {"path": _path(work)}, free=("scale",), either={"page": (1, None)})
    others = range(2, work.draft.sheets + 1)
    return [
        first,
        *(call("studio/render_page", {"path": _path(work), "page": sheet}, free=("scale",)) for sheet in others),
    ]


def _path(work: Work) -> str:
    return f"./{work.name}"


def edits(work: Work) -> list[ReferenceCall]:
    """The changes that make a draft what it should be, one for each element."""
    made = []
    for one in work.draft.elements:
        given: dict[str, object] = {"path": _path(work), "element": one.name}
        if one.name not in work.right:
            made.append(call("studio/remove_element", given))
            continue
        attributes, text = difference(one, work.right[one.name])
        if attributes:
            given["attributes"] = attributes
        if text is not None:
            given["text"] = text
        if len(given) > 2:
            made.append(call("studio/change_element", given))
    for new in work.right.elements:
        if new.name not in work.draft:
            given = {"path": _path(work), "element": new.name, "kind": new.kind, "attributes": dict(new.attributes)}
            made.append(call("studio/add_element", given | ({"text": new.text} if new.text else {}), free=("element",)))
    return made


def difference(one: Element, other: Element) -> tuple[dict[str, Attribute | None], str | None]:
    """The attributes and the text that make an element another one of its kind."""
    names = dict.fromkeys((*one.attributes, *other.attributes))
    changed = {
        name: other.attributes.get(name) for name in names if one.attributes.get(name) != other.attributes.get(name)
    }
    return changed, None if one.text == other.text else other.text


def field_of(work: Work, name: str, meaning: str) -> Field:
    """The field with the revised file."""
    return Field(name=name, meaning=meaning, value=File(form="svg", value=_path(work), holds=(kept(work), *work.holds)))


def kept(work: Work) -> PageKept:
    """What nobody may touch: all that is in the draft as it should be."""
    digests: dict[str, str] = {}
    free: dict[str, tuple[str, ...]] = {}
    new = [one.name for one in work.right.elements if one.name not in work.draft]
    for one in work.draft.elements:
        if one.name not in work.right:
            continue
        attributes, text = difference(one, work.right[one.name])
        wrong = (*attributes, *(("text",) if text is not None else ()))
        if wrong:
            free[one.name] = tuple(sorted({*wrong, *work.loose.get(one.name, ())}))
        digests[one.name] = one.digest(free.get(one.name, ()))
    return PageKept(kept=digests, free=free, open=tuple(new))
