"""Finds tasks: the set that comes with the package, one in a folder, or one that was just generated.

A set is a folder with `tasks.json`, `plans.json` (what the calls of each reference give and need), `pictures/`,
`scenes/` (what the detector knows of each picture, by the picture's file name) and `recordings/` (sound and film). A
set from a secret seed is kept in memory only, so that no reference is on disk. Whatever needs to know which tasks exist
asks a library.
"""

import json
import os
import time
from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.plan import Plan, Plans, unplayed
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Task, TaskSet
from m3bench.tasks.truth import TRUTHS, Truth

if TYPE_CHECKING:
    import platformdirs
else:
    platformdirs = LazyModule("platformdirs")

PLANS = "plans.json"
SETS = Path(__file__).parent / "data" / "sets"
BUNDLED = SETS / "m3"
DESK = SETS / "desk"
"""The set whose tasks have a person who must be asked, and documents with rules."""
STUDIO = SETS / "studio"
"""The set whose tasks have a draft that must be looked at and revised."""
RECORDINGS = SETS / "recordings"
"""The set whose tasks have sound or film in place of a picture."""
SNAPSHOTS = SETS / "snapshots"
"""The set whose tasks have several photographs each, which only together tell what is meant."""
PHOTOS = SETS / "photos"
"""The set about real photographs, which packages bring and m3bench does not carry."""
PHOTOGRAPHS = "photographs.toml"
"""In a set whose pictures are kept elsewhere: where each is from."""

_PICTURES = ("pictures/", "scenes/")


class Library:
    """The tasks of one set.

    Args:
        folder: The set's folder, or the name of a set that travels with the package; of those `m3` when left out.
    """

    def __init__(self, folder: Path = BUNDLED) -> None:
        # A folder of results may have the name of the set that it is about.
        named = SETS / folder.name
        is_set = (folder / "tasks.json").exists()
        self.folder = named if str(folder) == folder.name and not is_set and named.is_dir() else folder

    @cached_property
    def set(self) -> TaskSet:
        """The set, read and checked once."""
        path = self.folder / "tasks.json"
        try:
            read = _task_set(path, *_changed(path))
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror}): a set of tasks has a tasks.json") from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise InputFileError(path, first["msg"], field=field) from error
        kept = self._pictures
        wanted = {f"pictures/{name}" for task in read.tasks for name in task.pictures}
        if kept != self.folder and not all(map(self._has, wanted)):
            raise UserError(
                f"The photographs of the set {read.name!r} are not in {kept}: m3bench tasks fetch brings them from "
                "the packages that have them."
            )
        return read

    @cached_property
    def _pictures(self) -> Path:
        """The folder that pictures and scenes are in."""
        return photographs_folder() if (self.folder / PHOTOGRAPHS).is_file() else self.folder

    @property
    def places(self) -> tuple[Path, ...]:
        """The folders that it is in."""
        return (self.folder, self._pictures)

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Tasks by id, in the set's order."""
        return {task.id: task for task in self.set.tasks}

    @cached_property
    def hash(self) -> str:
        """What a manifest says of the set: any change in a task, picture or scene changes it."""
        state = self._state()
        if state is None:
            return self._hashed()
        if state not in _HASHES:
            _HASHES[state] = self._hashed()
        return _HASHES[state]

    def _state(self) -> Hashable:
        """What differs once the content of a file does; None where that cannot be told."""
        places = [(name, self._place(name)) for name in self._names()]
        found = [(name, str(place), place.stat()) for name, place in places]
        # Of two changes at nearly the same time, the second may leave the time as it is.
        if max((file.st_ctime for _, _, file in found), default=0.0) > time.time() - _SETTLED_SECONDS:
            return None
        return tuple((*names, file.st_ino, file.st_mtime_ns, file.st_ctime_ns, file.st_size) for *names, file in found)

    def _hashed(self) -> str:
        digest = sha256()
        for name, data in self.files():
            # Photographs are known by the hashes in `photographs.toml`: how they are saved here depends on Pillow.
            if self._pictures == self.folder or not name.startswith(_PICTURES):
                digest.update(name.encode())
                digest.update(sha256(data).digest())
        return digest.hexdigest()

    def task(self, id: str) -> Task:
        """A task by id."""
        if id not in self.tasks:
            hint = did_you_mean(id, self.tasks) or " list_tasks shows what there is."
            raise UserError(f"There is no task {id!r}.{hint}")
        return self.tasks[id]

    @cached_property
    def _plans(self) -> Mapping[str, tuple[Plan, ...]]:
        if not self._has(PLANS):
            return {}
        try:
            return self._read_plans()
        except ValidationError as error:
            raise InputFileError(self.folder / PLANS, error.errors(include_url=False)[0]["msg"]) from error

    def _read_plans(self) -> Mapping[str, tuple[Plan, ...]]:
        path = self._place(PLANS)
        return _plans_in(path, *_changed(path))

    def plans(self, task: Task) -> tuple[Plan, ...]:
        """What the calls of each reference give and need; plans that say little where nobody has played them."""
        found = self._plans.get(task.id, ())
        sizes = [len(reference.trajectory.calls) for reference in task.references]
        if [len(plan.calls) for plan in found] == sizes:
            return found
        return tuple(unplayed(reference.trajectory) for reference in task.references)

    def picture(self, name: str) -> bytes:
        """A picture's file."""
        return self._read(f"pictures/{name}")

    def recording(self, name: str) -> bytes:
        """The file of a sound or a film."""
        return self._read(f"recordings/{name}")

    def media(self, task: Task) -> Iterator[tuple[str, bytes]]:
        """Name and file of everything that a task shows or plays."""
        yield from ((name, self.picture(name)) for name in task.pictures)
        yield from ((name, self.recording(name)) for name in task.recordings)

    def scenes(self, task: Task) -> tuple[Scene, ...]:
        """What the detector knows of a task's pictures."""
        return tuple(
            Scene.from_json(json.loads(self._read(name)))
            for name in (f"scenes/{picture}.json" for picture in task.pictures)
            if self._has(name)
        )

    def truth(self, task: Task) -> Truth | None:
        """What there is to see in a task's pictures; None where nobody wrote it down. For the server's side alone."""
        name = f"{TRUTHS}/{task.id}.json"
        return Truth.model_validate_json(self._read(name)) if self._has(name) else None

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Everything the set consists of: path in the folder and content, sorted, one file in memory at a time."""
        for name in self._names():
            yield name, self._read(name)

    def _names(self) -> list[str]:
        parts = {
            "tasks.json": self.folder,
            PLANS: self.folder,
            PHOTOGRAPHS: self.folder,
            "recordings/**/*": self.folder,
            f"{TRUTHS}/*": self.folder,
            **{f"{part}**/*": self._pictures for part in _PICTURES},
        }
        found = (
            path.relative_to(place) for part, place in parts.items() for path in place.glob(part) if path.is_file()
        )
        return sorted(path.as_posix() for path in found)

    def _place(self, name: str) -> Path:
        return (self._pictures if name.startswith(_PICTURES) else self.folder) / name

    def _has(self, name: str) -> bool:
        return self._place(name).is_file()

    def _read(self, name: str) -> bytes:
        path = self._place(name)
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror})") from error


def photographs_folder() -> Path:
    """Where the photographs of the set `photos` are kept when nobody says otherwise (`M3BENCH_PHOTOS`)."""
    return Path(os.environ.get("M3BENCH_PHOTOS") or platformdirs.user_cache_path("m3bench") / "photos")


_SETTLED_SECONDS = 2.0
_HASHES: dict[Hashable, str] = {}
"""Of sets by the state of their files: a process asks for that of the same set again and again."""


def _changed(path: Path) -> tuple[int, int, int]:
    """Tells whether a file is still as it was: its number, when it was changed, and its size."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=2)
def _task_set(path: Path, inode: int, changed_ns: int, size: int) -> TaskSet:
    """The set in a file, as it is now: a process that opens it again need not read it again."""
    return TaskSet.model_validate_json(path.read_bytes())


@lru_cache(maxsize=2)
def _plans_in(path: Path, inode: int, changed_ns: int, size: int) -> Mapping[str, tuple[Plan, ...]]:
    return Plans.model_validate_json(path.read_bytes()).plans


class MadeLibrary(Library):
    """A set that is only in memory.

    Args:
        made: The set.
        files: Its pictures, recordings and scenes, by their path in the folder that it would be.
        plans: What the calls of its references give and need, by task; empty when nobody has played them.
    """

    def __init__(
        self, made: TaskSet, files: Mapping[str, bytes], plans: Mapping[str, tuple[Plan, ...]] | None = None
    ) -> None:
        super().__init__(Path("(in memory)"))
        self._made = made
        self._files = {**files, **({PLANS: Plans(plans=plans).to_json()} if plans else {})}

    @cached_property
    def set(self) -> TaskSet:
        """The set."""
        return self._made

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Everything the set consists of: path in the folder that it would be and content, sorted."""
        data = self._made.model_dump(mode="json", by_alias=True)
        for task in data["tasks"]:
            task["fields"] = [_spare(field) for field in task["fields"]]
            for name in ("role", "skills", "recordings", "fields", "checks"):
                if not task[name]:
                    del task[name]
            for reference in task["references"]:
                for step in reference["steps"]:
                    for call in step:
                        _thin(call)
        text = f"{json.dumps(data, ensure_ascii=False, indent=1)}\n"
        yield from sorted({"tasks.json": text.encode(), **self._files}.items())

    def write(self, folder: Path) -> None:
        """Write the set into a folder, replacing the one that is there."""
        for part in ("pictures", "recordings", "scenes", TRUTHS):
            for old in (folder / part).glob("*"):
                old.unlink()
        for name, data in self.files():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    def _state(self) -> Hashable:
        return None

    def _read_plans(self) -> Mapping[str, tuple[Plan, ...]]:
        return Plans.model_validate_json(self._read(PLANS)).plans

    def _has(self, name: str) -> bool:
        return name in self._files

    def _read(self, name: str) -> bytes:
        return self._files[name]


_SPARE = frozenset(
    {"aliases", "others", "context", "unit", "decimals", "form", "zone", "derived", "compared", "within", "least"}
)
"""What most values do not have."""


def _spare(data: object) -> object:
    """The data of a field without what is empty."""
    if isinstance(data, list):
        return [_spare(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {
        name: _spare(value) for name, value in data.items() if name not in _SPARE or value not in (None, "", [], {}, 0)
    }


def _thin(call: dict[str, Any]) -> None:
    """Leave out what a call does not tolerate, which is most."""
    tolerances = {
        name: {kind: value for kind, value in tolerance.items() if value not in (None, False, [])}
        for name, tolerance in call.pop("tolerances").items()
    }
    if tolerances:
        call["tolerances"] = tolerances
