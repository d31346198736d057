"""Photographs of animals on a board: find the newest paper on each, keep it, and quote its abstract."""

import json
import random
import re
from collections.abc import Iterator

from m3bench.tasks.checks import AnswerNames, BackedByCall, CallMade, Check, FileOpens
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.detections import read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pinboard import pinboard
from m3bench.tasks.render.wildlife import Actor
from m3bench.tasks.task import ReferenceCall


class _Tables(Tables):
    species: tuple[str, ...]
    """Animals on which there is research whose newest paper is the same however one searches for it."""
    folders: tuple[tuple[str, ...], ...]


_tables = tables("vision_research", _Tables)


class VisionResearch:
    """Detect animals, search, download and read a paper on each."""

    name = "vision_research"
    servers = ("dinox-mcp", "paper_search")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two to four animals, each in a photograph."""
        names = rng.sample(_tables().species, rng.choice((2, 3, 3, 4)))
        canvas = Canvas(kit.art, *((1320, 640) if len(names) < 4 else (1240, 940)))
        pinboard(canvas, rng, [Actor(name, description=f"A {name} in a photograph.") for name in names])
        canvas.light(rng)
        return Composition.of(canvas, names=names)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect once, then search, download and read for all animals together."""
        folder = "-".join(rng.choice(words) for words in _tables().folders)
        seen = composition.facts["names"]
        named, everything = _detections(path, seen)
        (text,) = await play.step(named)
        names = list(dict.fromkeys(found.name for found in read_objects(text)))
        texts = await play.step(
            *(
                call(
                    "paper_search/search_arxiv", {"query": f"ti:{name} OR abs:{name}", "max_results": 3},
                    free=["max_results"], words={"query": [name]},
                )
                for name in names
            )
        )  # fmt: skip
        papers = [json.JSONDecoder().raw_decode(text)[0] for text in texts]
        keys = [paper["paper_id"] for paper in papers]
        await play.step(*(_fetch("download_arxiv", key, folder) for key in keys))
        texts = await play.step(*(_fetch("read_arxiv_paper", key, folder) for key in keys))
        quotes = []
        for name, paper, text in zip(names, papers, texts, strict=True):
            quotes.append(_shortest(paper["abstract"], name))
            assert quotes[-1][0] in " ".join(text.split()), "the abstract must stand in the paper"
        said = " ".join(
            f'{name.capitalize()}: "{paper["title"]}" ({paper["paper_id"]}) says: "{quote[0]}"'
            for name, paper, quote in zip(names, papers, quotes, strict=True)
        )
        return Solution(
            wording=f"Detect the animals in {path}; for each, search arXiv, download its newest paper to ./{folder}, read it and "
            "quote the shortest sentence of the abstract that names the animal.",
            answer=f"I found {len(names)} animals and saved their papers in {folder}. {said}",
            given={"folder": folder},
            checks=tuple(_checks(names, folder, quotes)),
            alternatives=(
                play.varied("Look for everything instead of the animals by name.", {0: [everything]}),
                play.varied("Reading a paper saves it as well.", {2: []}),
            ),
        )


def _detections(path: str, names: list[str]) -> tuple[ReferenceCall, ReferenceCall]:
    prompt = ".".join(sorted(names))
    return (
        call(
            "dinox-mcp/detect-objects-by-text", {"imageFileUri": path, "textPrompt": prompt, "includeDescription": False},
            free=["includeDescription"], words={"textPrompt": sorted(names)},
        ),
        call(
            "dinox-mcp/detect-all-objects", {"imageFileUri": path, "includeDescription": False},
            free=["includeDescription"],
        ),
    )  # fmt: skip


def _fetch(tool: str, key: str, folder: str) -> ReferenceCall:
    places = [f"{start}{folder}{end}" for start in ("./", "", "/workspace/", "./media/", "media/") for end in ("", "/")]
    return call(
        f"paper_search/{tool}", {"paper_id": key, "save_path": f"./{folder}"},
        either={"paper_id": [key, key.partition("v")[0]], "save_path": places},
    )  # fmt: skip


def _shortest(abstract: str, name: str) -> tuple[str, ...]:
    """The sentence that names an animal in the fewest letters, and the one with the fewest words should it be another."""
    sentences = [
        sentence
        for sentence in re.split(r"(?<=[.!?])\s+", abstract)
        if re.search(rf"\b{name}s?\b", sentence, re.IGNORECASE)
    ]
    shortest = min(sentences, key=len)
    fewest = min(len(sentence.split()) for sentence in sentences)
    return tuple(dict.fromkeys((shortest, *(sentence for sentence in sentences if len(sentence.split()) == fewest))))


def _checks(names: list[str], folder: str, quotes: list[tuple[str, ...]]) -> Iterator[Check]:
    yield AnswerNames(all_of=tuple((name, f"{name}s") for name in names))
    yield FileOpens(pattern=f"*{folder}/*.pdf", count=len(names))
    for quote in quotes:
        yield BackedByCall(any_of=tuple(spelling for text in quote for spelling in (text, text.rstrip("."))))
    yield CallMade(tool="paper_search/read_arxiv_paper", times=len(names))
