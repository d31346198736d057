"""Generates sets of tasks on all cores: several processes, each working on one family at a time."""

import concurrent.futures as futures
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from m3bench.server.runs.loading import library_of
from m3bench.server.serving import interrupts
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import M3Error, UserError
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.library import Library, MadeLibrary
from m3bench.tasks.secret import Secret, SecretLibrary, read_secret
from m3bench.tasks.task import TaskSet

if TYPE_CHECKING:
    from m3bench.sandboxes.backends import inprocess, result_cache
    from m3bench.server.lab.authoring import checkpoints, generation, planning
    from m3bench.tasks.families import registry
    from m3bench.tasks.render import art, packages
else:
    # Most commands read a set that is there.
    inprocess = LazyModule("m3bench.sandboxes.backends.inprocess")
    result_cache = LazyModule("m3bench.sandboxes.backends.result_cache")
    checkpoints = LazyModule("m3bench.server.lab.authoring.checkpoints")
    generation = LazyModule("m3bench.server.lab.authoring.generation")
    planning = LazyModule("m3bench.server.lab.authoring.planning")
    registry = LazyModule("m3bench.tasks.families.registry")
    art = LazyModule("m3bench.tasks.render.art")
    packages = LazyModule("m3bench.tasks.render.packages")

MEMORY = "/dev/shm"
"""Where files are in memory alone: references of a secret set are tried there, where there is such a place."""


@dataclass(frozen=True, kw_only=True)
class SetRequest:
    """Which set is to be made: the same request always gives the same set."""

    families: Sequence[str]
    """Names."""
    seed: int
    """Another seed gives other tasks."""
    per_family: int
    """How many tasks of each family."""
    art: Path
    """Folder with the art packages."""
    name: str
    version: str
    seen: Path | None = None
    """A file in which what tools see in the pictures is kept, for whoever plays the tasks later."""


def make_set(
    request: SetRequest,
    *,
    parallel: int | None = None,
    progress: Callable[[str], None] = lambda family: None,
    keep: Path | None = None,
    secret: Secret | None = None,
) -> MadeLibrary:
    """Make a set; the same whatever the number of processes, and however often it was stopped on the way.

    A family that fails costs no other: the rest is made first, and is kept where there is a folder for it.

    Args:
        request: Which set.
        parallel: Processes; one per core when left out.
        progress: Told the name of each finished family.
        keep: Folder for what is finished until all is; the next call with the same request goes on from there.
        secret: Gives tasks and their files names that tell nothing; then they are made where nothing is on disk.

    Raises:
        UserError: A family has no suitable task, or failed; what is finished is kept.
    """
    _ = art.Art(request.art).fonts  # unpacked once, before several processes want them
    kept = None
    if keep is not None:
        kept = checkpoints.FamilyCheckpoints(keep, checkpoints.key_of(request.seed, request.per_family, request.art))
    parts: dict[str, MadeLibrary] = {}
    for family in request.families:
        found = kept.get(family) if kept is not None else None
        if found is not None:
            parts[family] = found
            progress(family)

    def finished(family: str, made: MadeLibrary) -> None:
        parts[family] = made
        if kept is not None:
            kept.put(family, made)
        progress(family)

    failed = _make_families(
        request, [name for name in request.families if name not in parts], parallel, secret, finished
    )
    if failed:
        raise UserError(_failures(failed, len(parts), kept=kept is not None)) from next(iter(failed.values()))
    tasks = tuple(task for family in request.families for task in parts[family].set.tasks)
    files = {name: data for part in parts.values() for name, data in part.files() if "/" in name}
    plans = {task.id: parts[task.family].plans(task) for task in tasks}
    return MadeLibrary(TaskSet(schema=2, name=request.name, version=request.version, tasks=tasks), files, plans)


def _make_families(
    request: SetRequest,
    families: Sequence[str],
    parallel: int | None,
    secret: Secret | None,
    finished: Callable[[str, MadeLibrary], None],
) -> dict[str, Exception]:
    """Make families in several processes; returns why some of them failed."""
    failed: dict[str, Exception] = {}
    with (
        interrupts.also_on_request(),
        futures.ProcessPoolExecutor(
            parallel or os.cpu_count() or 1, mp_context=get_context("spawn"), initializer=interrupts.end_on_request
        ) as pool,
    ):
        with interrupts.held():
            jobs = {pool.submit(_family, family, request, secret): family for family in families}
        try:
            for job in futures.as_completed(jobs):
                family, error = jobs[job], job.exception()
                if isinstance(error, Exception):
                    failed[family] = error
                else:
                    finished(family, job.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            interrupts.end_helpers()
            raise
    return failed


def _failures(failed: Mapping[str, Exception], made: int, *, kept: bool) -> str:
    said = "; ".join(f"{family}: {_words(error)}" for family, error in sorted(failed.items()))
    if not kept:
        return f"{said}."
    return f"{said}. The {made} families that are finished are kept: the same command goes on from there."


def _words(error: Exception) -> str:
    """An error as part of a sentence."""
    return (str(error) if isinstance(error, M3Error) else f"{type(error).__name__}: {error}").rstrip(".")


def private_set(settings: Settings, seed: int, secret: Secret | None = None) -> MadeLibrary:
    """A set that is kept in memory only; progress goes to standard error.

    Raises:
        UserError: One of the families that were chosen does not exist.
    """
    families = list(settings.family) or list(registry.FAMILIES)
    for name in families:
        if name not in registry.EVERY:
            raise UserError(f"There is no family {name!r}.{did_you_mean(name, registry.EVERY)}")
    place = packages.default_folder()
    packages.fetch(place)
    done = 0

    def report(family: str) -> None:
        nonlocal done
        done += 1
        end = "" if done < len(families) else "\n"
        print(f"\rMaking tasks: {done} of {len(families)} families", end=end, file=sys.stderr, flush=True)

    request = SetRequest(
        families=families, seed=seed, per_family=settings.per_family, art=place, name="private", version="1"
    )
    return make_set(request, progress=report, secret=secret)


def chosen_library(settings: Settings) -> Library:
    """The tasks that a person chose: from a folder, from a seed or, in ranked mode, from a secret.

    Raises:
        UserError: More than one of them was chosen, or the secret is none.
        InputFileError: The file with the secret cannot be used.
    """
    if settings.secret_file is not None and not settings.ranked:
        raise UserError("A secret is for ranked runs: give --ranked as well.")
    secret = read_secret(settings.secret_file) if settings.ranked else None
    if sum((settings.tasks is not None, settings.seed is not None, secret is not None)) > 1:
        raise UserError("Tasks come from a folder, a seed or a secret: give one of --tasks, --seed and --secret-file.")
    if secret is not None:
        _leave_no_core()
        return SecretLibrary.of(private_set(settings, secret.seed, secret))
    if settings.seed is not None:
        return private_set(settings, settings.seed)
    return library_of(settings)


def _leave_no_core() -> None:
    """Turn off core dumps: the memory of this process holds a secret."""
    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _family(family: str, request: SetRequest, secret: Secret | None) -> MadeLibrary:
    if secret is not None and os.access(MEMORY, os.W_OK):
        tempfile.tempdir = MEMORY

    async def main() -> MadeLibrary:
        seen = result_cache.ResultCache(kept=request.seen) if request.seen is not None else None
        backend = inprocess.InProcessBackend(seen)
        made = await generation.generate(
            [registry.EVERY[family]], seed=request.seed, per_family=request.per_family, art=art.Art(request.art),
            backend=backend, name="", version="", naming=secret.name if secret is not None else str,
        )  # fmt: skip
        files = {name: data for name, data in made.files() if "/" in name}
        return MadeLibrary(made.set, files, await planning.play_plans(made, backend, in_order=True))

    return anyio.run(main)
