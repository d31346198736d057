"""Makes tasks from somebody's photographs and what they say is true of them.

Photographs go into the set upright, no larger than a screen, under names that say nothing, and without what cameras
write into files, which may say where they were taken. Every task is played and proved like those of the families; what
cannot be made says why.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

from m3bench.sandboxes.backends.base import Backend
from m3bench.server.lab.authoring.generation import beside, scene_file, stage
from m3bench.server.lab.authoring.lint import MAX_PICTURE_BYTES, SIDES
from m3bench.server.lab.authoring.planning import play_plans
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import InputFileError, M3Error
from m3bench.tasks.families.base import Script, Unfit, frame, media
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.photos.facts import FILE, Photo, Photos
from m3bench.tasks.photos.recipes import RECIPES, Recipe, phrasings
from m3bench.tasks.plan import Plan
from m3bench.tasks.scene import Scene, SceneObject
from m3bench.tasks.task import Task, TaskSet

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
LONGEST, SHORTEST = SIDES[1], SIDES[0]
"""Most and fewest pixels of the longer side of a photograph in a set."""
_QUALITIES = (88, 80, 72, 64, 56)
"""Of JPEG files; the first at which one is small enough is taken."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A photograph as it lies in the set."""

    file: str
    data: bytes
    scene: Scene
    photo: Photo
    """What is true of it, with boxes in its pixels."""


@dataclass(frozen=True, kw_only=True)
class Omission:
    """A task that could not be made."""

    recipe: str
    photos: tuple[str, ...]
    why: str


def photographs(folder: Path) -> list[str]:
    """The names of the photographs in a folder."""
    return sorted(path.name for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())


def skeleton(folder: Path) -> str:
    """A `photos.yaml` to fill in.

    Raises:
        InputFileError: There is no photograph in the folder.
    """
    names = photographs(folder)
    if not names:
        raise InputFileError(folder, f"has no photographs ({', '.join(SUFFIXES)})")
    lines = [
        "# What can be seen in each photograph; take out those that show none of this.",
        "#   place: a sight, as a map calls it, with town: where that is, such as Paris, France",
        "#   food: one kind of food in the singular, with count: how many pieces",
        "#   thing: one kind of thing that shops sell, in the singular, with count: how many",
        "#   isbn: the number of a book, in quotation marks",
        "#   subject: what it is a picture of, in one plain word, such as cat",
        "#   counts: {coins: 24}, what there is to count, in the plural, and how many",
        "#   parts: [{what: the spoon, box: [left, top, right, bottom]}], what can be pointed at, in pixels",
        "#   also: [other names of it]",
        "#   objects: [{label: cup, box: [left, top, right, bottom]}], what the detector may tell of, in pixels",
        "photos:",
        *(f"  {json.dumps(name, ensure_ascii=False)}: {{}}" for name in names),
    ]
    return "\n".join(lines) + "\n"


def take(folder: Path, photos: Photos) -> dict[str, Taken]:
    """The photographs of a folder as they go into a set, by their own names.

    Raises:
        InputFileError: One is not there or cannot be read.
    """
    present = photographs(folder)
    for name in photos.photos:
        if name not in present:
            raise InputFileError(
                folder / FILE, f"there is no photograph {name!r} beside it.{did_you_mean(name, present)}"
            )
    return {
        name: _taken(folder / name, f"photo-{number}.jpg", photos.photos[name])
        for number, name in enumerate(sorted(photos.photos), 1)
    }


def most(photos: Photos, per_recipe: int) -> int:
    """How many tasks there can be at most."""
    return sum(min(per_recipe, sum(1 for _ in recipe.choices(photos.photos))) for recipe in RECIPES)


async def make(
    photos: Photos,
    taken: Mapping[str, Taken],
    backend: Backend,
    *,
    seed: int,
    per_recipe: int,
    progress: Callable[[str], None] = lambda id: None,
) -> tuple[MadeLibrary, list[Omission]]:
    """The tasks that can be made, proved, and why others cannot.

    Args:
        photos: What is true.
        taken: The photographs.
        backend: Where tasks are played.
        seed: With another seed other things are asked.
        per_recipe: The most tasks of one kind.
        progress: Told the id of each finished task.
    """
    tasks: dict[str, tuple[Task, tuple[str, ...]]] = {}
    omissions: list[Omission] = []
    uses: Counter[str] = Counter()
    for recipe in RECIPES:
        left = list(recipe.choices(photos.photos))
        random.Random(f"choices {recipe.name} {seed}").shuffle(left)
        number = 0
        while left and number < per_recipe:
            # What was used least goes first, so that every photograph is asked about.
            chosen = left.pop(min(range(len(left)), key=lambda place: sum(uses[name] for name in left[place])))
            try:
                task = await _task(recipe, number + 1, seed, [taken[name] for name in chosen], backend)
            except (Unfit, M3Error) as error:
                omissions.append(Omission(recipe=recipe.name, photos=chosen, why=str(error)))
                continue
            number += 1
            uses.update(chosen)
            tasks[task.id] = task, chosen
            progress(task.id)
    made = [task for task, _ in tasks.values()]
    plans = await play_plans(_set_of(photos.name, made, taken, {}), backend, in_order=True)
    library = _set_of(photos.name, made, taken, plans)
    for id, problems in _by_task(await verify(library, backend, parallel=1), library).items():
        task, chosen = tasks.pop(id)
        omissions.append(Omission(recipe=task.family, photos=chosen, why="; ".join(problems)))
    return _set_of(photos.name, [task for task, _ in tasks.values()], taken, plans), omissions


async def _task(
    recipe: Recipe, number: int, seed: int, used: Sequence[Taken], backend: Backend
) -> Task:  # fmt: skip
    id = f"{recipe.name}-{number}"
    pictures = {picture.file: picture.data for picture in used}
    async with stage(backend, id, recipe.servers, pictures, tuple(picture.scene for picture in used)) as play:
        script, rng = Script(play), random.Random(f"question {recipe.name} {seed} {' '.join(pictures)}")
        solution = await recipe.solve(
            rng, [picture.photo for picture in used], [media(file) for file in pictures], script
        )
    ways = phrasings(recipe.name)
    question = ways[(seed + number) % len(ways)]
    return frame(
        recipe, id, tuple(pictures), question, solution, script, beside(recipe.servers, f"{recipe.name} {seed}")
    )


def _set_of(
    name: str, tasks: Sequence[Task], taken: Mapping[str, Taken], plans: Mapping[str, tuple[Plan, ...]]
) -> MadeLibrary:
    """The set of these tasks, with those of the plans that are of their references."""
    used = {file for task in tasks for file in task.pictures}
    files = {
        path: data
        for picture in taken.values()
        if picture.file in used
        for path, data in (
            (f"pictures/{picture.file}", picture.data),
            (f"scenes/{picture.file}.json", scene_file(picture.scene)),
        )
    }
    made = TaskSet(schema=2, name=name, version="1", tasks=tuple(tasks))
    return MadeLibrary(made, files, {task.id: plans[task.id] for task in tasks if task.id in plans})


def _by_task(problems: Sequence[str], library: MadeLibrary) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for problem in problems:
        id, _, said = problem.partition(": ")
        if id in library.tasks:
            found.setdefault(id, []).append(said)
    return found


def _taken(path: Path, file: str, photo: Photo) -> Taken:
    try:
        with Image.open(path, formats=READABLE) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise InputFileError(path, f"is not a photograph that can be read ({error})") from error
    factor = max(min(1.0, LONGEST / max(upright.size)), SHORTEST / max(upright.size))
    size = (max(1, round(upright.width * factor)), max(1, round(upright.height * factor)))
    data = _jpeg(upright.resize(size, Image.Resampling.LANCZOS))
    smaller = photo.scaled(factor)
    boxes = [(part.label, part.box) for part in smaller.objects] + [(part.what, part.box) for part in smaller.parts]
    for name, (_, _, right, bottom) in boxes:
        if right > size[0] + 1 or bottom > size[1] + 1:
            raise InputFileError(path.parent / FILE, f"the box of {name!r} reaches beyond {path.name}", field=path.name)
    objects = [SceneObject(label=thing.label, box=thing.box) for thing in smaller.objects]
    return Taken(file=file, data=data, scene=Scene.of(data, objects), photo=smaller)


def _jpeg(image: Image.Image) -> bytes:
    """The file of a photograph, as good as its size allows."""
    for quality in _QUALITIES:
        buffer = BytesIO()
        image.save(buffer, "JPEG", quality=quality, optimize=True)
        if buffer.tell() <= MAX_PICTURE_BYTES:
            break
    return buffer.getvalue()
