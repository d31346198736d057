"""What is true of somebody's photographs, as they write it down in `photos.yaml` beside them.

    photos:
      tower.jpg: {place: Eiffel Tower, town: "Paris, France", also: [La Tour Eiffel]}
      bowl.jpg: {food: banana, count: 4}
      desk.jpg: {thing: coffee mug, count: 3, objects: [{label: cup, box: [120, 80, 260, 240]}]}
      cover.jpg: {isbn: "9780141439518"}
      cat.jpg: {subject: cat, parts: [{what: the left ear, box: [310, 40, 420, 190]}], counts: {cushions: 3}}

Every fact must be one that a person sees in the photograph. A task never says it: whoever plays has to look.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FILE = "photos.yaml"

KINDS = {"place": "town", "food": "count", "thing": "count", "isbn": "", "subject": "", "parts": "", "counts": ""}
"""What a photograph can show, and what has to be said beside it."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Boxed(_Part):
    box: tuple[float, float, float, float]
    """Left, top, right and bottom in pixels of the photograph as it is shown."""

    @model_validator(mode="after")
    def _is_box(self) -> Self:
        left, top, right, bottom = self.box
        if not (0 <= left < right and 0 <= top < bottom):
            raise ValueError("a box has left, top, right and bottom, in this order and in pixels")
        return self


class SeenThing(_Boxed):
    """A thing that a detector may tell of."""

    label: str = Field(min_length=1)
    """What kind of thing, in the singular and in everyday words."""


class Detail(_Boxed):
    """Something in the photograph that can be pointed at; no tool tells where it is."""

    what: str = Field(min_length=1)
    """What it is called in a question, with an article: `the spoon`. There must be only one of it."""


class Photo(_Part):
    """What is true of a photograph."""

    place: str = ""
    """A sight, as it is called on a map."""
    town: str = ""
    """Where that is: `Paris, France`, `Chicago, Illinois`."""
    food: str = ""
    """One kind of food, in the singular."""
    thing: str = ""
    """One kind of thing that a shop has, in the singular."""
    count: int = Field(default=0, ge=0, le=99)
    """How many pieces of the food or the thing can be seen."""
    isbn: str = ""
    """The number of a book that is shown."""
    subject: str = ""
    """What it is a picture of, in one plain word that a search for icons knows."""
    parts: tuple[Detail, ...] = ()
    """What can be cut out, hidden or circled. Those of one photograph must not overlap."""
    counts: dict[str, int] = {}
    """How many there are of something, by what it is called in a question, in the plural: `coins`."""
    also: tuple[str, ...] = ()
    """Other names of what is shown."""
    objects: tuple[SeenThing, ...] = ()
    """What the detector may tell of; nothing when left out."""

    @model_validator(mode="after")
    def _says_something(self) -> "Photo":
        said = [kind for kind in KINDS if getattr(self, kind)]
        if not said:
            raise ValueError(f"say what it shows: one of {', '.join(KINDS)}")
        for kind in said:
            beside = KINDS[kind]
            if beside and not getattr(self, beside):
                raise ValueError(f"a photograph with {kind} needs {beside}")
        if any(not 1 <= count <= 99 for count in self.counts.values()):
            raise ValueError("counts are from 1 to 99")
        for one, other in combinations(self.parts, 2):
            if _overlap(one.box, other.box):
                raise ValueError(f"{one.what} and {other.what} overlap: leave one of them out")
        if self.food and self.thing:
            raise ValueError("the count cannot be of both a food and a thing: name one of them")
        return self

    def scaled(self, factor: float) -> "Photo":
        """The same for a photograph that was made smaller."""

        def smaller(box: tuple[float, float, float, float]) -> tuple[float, ...]:
            return tuple(round(edge * factor, 1) for edge in box)

        return self.model_copy(update={
            name: tuple(part.model_copy(update={"box": smaller(part.box)}) for part in getattr(self, name))
            for name in ("objects", "parts")
        })  # fmt: skip

    def names(self, kind: str) -> tuple[str, ...]:
        """What may be said for what is shown, the usual name first."""
        return (str(getattr(self, kind)), *self.also)


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class Photos(_Part):
    """A folder of photographs."""

    name: str = Field(default="photos", pattern=r"^[\w.-]+$")
    """What the set of tasks is called."""
    photos: dict[str, Photo] = Field(min_length=1)
    """By file name."""

    @model_validator(mode="before")
    @classmethod
    def _not_empty(cls, data: object) -> object:
        if isinstance(data, dict) and isinstance(data.get("photos"), dict):
            return {**data, "photos": {str(name): facts or {} for name, facts in data["photos"].items()}}
        return data
