"""What everybody knows is held: lists of names that were written before the tools were asked, half of them held out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import anyio
import pytest

from tests.sandboxes.servers.closed_lists import ClosedList, missing, read

SAMPLE = 7
"""Of a list every so manieth name is asked in the sample."""
HELD = 0.95
LESS = {
    **dict.fromkeys(("coins", "health", "instruments_and_music", "met_works", "sports", "subreddits"), 0.86),
    **dict.fromkeys(("cars", "nix_packages"), 0.9),
}
"""Lists with known gaps, such as coins that the exchange no longer lists."""
LISTS = tuple(read())


def _missing(lists: Iterable[ClosedList], names: str) -> dict[str, Sequence[str]]:
    async def ask() -> dict[str, Sequence[str]]:
        return {asked.name: gone async for asked, gone in missing(lists, names=names)}

    return anyio.run(ask)


@pytest.mark.slow
def test_a_sample_of_every_list_is_held_and_nonsense_is_not() -> None:
    sampled = [replace(asked, names=asked.names[::SAMPLE]) for asked in LISTS]
    gone = _missing(sampled, "names")
    assert sum(map(len, gone.values())) <= (1 - HELD) * sum(len(asked.names) for asked in sampled), gone
    nonsense = [replace(asked, names=("Qwxzvk Blorfgan",)) for asked in LISTS]
    assert all(_missing(nonsense, "names").values())


@pytest.mark.night
@pytest.mark.parametrize("asked", LISTS, ids=lambda asked: asked.name)
def test_both_halves_of_a_list_are_held(asked: ClosedList) -> None:
    for half in ("tuned", "held_out"):
        gone = _missing([asked], half)[asked.name]
        assert len(gone) <= (1 - LESS.get(asked.name, HELD)) * len(getattr(asked, half)) + 1, gone
