"""Fresh sets of tasks for tests, kept for the session."""

import os
import random
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial

import anyio

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.authoring.generation import ATTEMPTS, MadeTask, generate, make
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.families.base import Kit, Unfit
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import MadeLibrary
from tests.art import art

FULL = bool(os.environ.get("M3BENCH_FULL"))
"""Whether everything is made anew and proved, which takes hours, or a part of it."""
SEEDS = (2, 3, 4)
PER_FAMILY = 3 if FULL else 1
GOALS = 99 if FULL else 1
"""Of how many goals of a family pictures are made anew."""


def seeded(families: Iterable[str]) -> list[tuple[str, int]]:
    """Families with the seeds that they are made from: each with one of them, or with all."""
    return [
        (family, seed)
        for number, family in enumerate(families)
        for seed in (SEEDS if FULL else SEEDS[number % len(SEEDS) :][:1])
    ]


def family_set(family: str, seed: int, per_family: int = PER_FAMILY) -> MadeLibrary:
    """The tasks of one family and seed."""

    async def main() -> MadeLibrary:
        return await generate(
            [FAMILIES[family]], seed=seed, per_family=per_family, art=art(), backend=InProcessBackend(), name="fresh",
            version="1",
        )  # fmt: skip

    return anyio.run(main)


@cache
def proved(family: str, seed: int) -> tuple[MadeLibrary, list[str]]:
    """A family's tasks and what is wrong with them."""
    library = family_set(family, seed)
    return library, anyio.run(partial(verify, library, InProcessBackend()))


def asked_alike(family: str, goal: str) -> tuple[MadeTask, MadeTask]:
    """Two tasks with the same goal and dice for the question, other dice for the picture, and other references.

    Two pictures may happen to show the same thing; where the picture is not needed, no two differ.
    """

    async def main() -> tuple[MadeTask, MadeTask]:
        kit = Kit(art(), load)
        for question in ("alike", "as well", "too"):
            first: MadeTask | None = None
            for seed in range(ATTEMPTS):
                if first is None and seed > ATTEMPTS / 4:
                    break  # a question that fits no picture
                with suppress(Unfit):
                    made = await make(
                        FAMILIES[family], f"{family}-1", kit, InProcessBackend(), picture=f"alike {seed}",
                        question=question, goal=goal, phrase=random.Random(family).randrange(10),
                    )  # fmt: skip
                    if first is not None and first.task.references[0] != made.task.references[0]:
                        return first, made
                    first = first or made
        raise AssertionError(f"{family} found no two pictures that need different calls for {goal!r}")

    return anyio.run(main)
