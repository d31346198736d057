"""Nine words for policies that are too small to write calls, on tasks of `barcode_lookup` that ask for pages.

`scan` scans the picture, `one` to `six` each look a book up that was found, `done` hands in what was looked up, and
`guess` calls a tool that there is not. A model that writes calls needs none of this.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from episodes import Episode, Turn, asked_of

NUMBERS = ("one", "two", "three", "four", "five", "six")
WORDS = ("scan", *NUMBERS, "done", "guess")


def said(word: str, facts: Mapping[str, Any], heard: Sequence[str]) -> str:
    """What a word stands for, in an episode with these facts in which these results were heard."""
    known = [found for found in map(_metadata, heard) if found]
    if word == "scan":
        return _call("pyzbar-mcp__scan_barcode", image_paths=facts["pictures"][0])
    if word in NUMBERS:
        codes = next((found["results"] for found in known if "results" in found), [])
        place = NUMBERS.index(word)
        return _call("openlibrary_mcp__get_book_info", isbn=codes[place]["data"] if place < len(codes) else "")
    if word == "done":
        books = {found["isbn"]: found for found in known if "pages" in found}.values()
        rows = [{"title": book["title"], "author": ", ".join(book["authors"])} for book in books]
        pages = sum(int(book["pages"]) for book in books)
        return _call("submit", answer=f"They have {pages} pages.", fields={"books": rows, "total_pages": pages})
    return _call("guess")


def play(episode: Episode, words: Sequence[str]) -> list[Turn]:
    """Say words one after the other, and hand in nothing when they are at an end."""
    turns: list[Turn] = []
    heard: list[str] = []
    for word in words:
        turns.append(episode.say(said(word, episode.facts, heard)))
        heard += turns[-1].texts
        if turns[-1].done:
            return turns
    while not turns or not turns[-1].done:  # What has no fields is sent back once.
        turns.append(episode.act({"answer": ""}))
    return turns


def fitting_tasks(url: str, split: str) -> list[str]:
    """The tasks that the words can solve: those that ask which books there are, and for their pages."""
    found = []
    for task in asked_of(url, "m3bench/tasks", {"split": split})["tasks"]:
        if task["family"] == "barcode_lookup":
            episode = Episode(url, task["id"])
            if [field["name"] for field in episode.facts["fields"]] == ["books", "total_pages"]:
                found.append(task["id"])
            episode.close()
    if not found:
        raise SystemExit(f"There is no task of barcode_lookup about pages on the split {split}.")
    return found


def _metadata(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    about = found.get("metadata") if isinstance(found, dict) else None
    return about if isinstance(about, dict) else {}


def _call(name: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"
