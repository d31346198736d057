"""A learner that learns: a policy of some thousand numbers, trained by policy gradient on one family of tasks.

    python bench/learner.py TRAIN [TEST] [--iterations 40] [--shuffled] [--json FILE]

TRAIN is a set of the family `barcode_lookup`, as `m3bench tasks generate` makes it from a seed for training; TEST, by
default the bundled set, is one for testing. The policy chooses which tool is called first, which of the books that
were found count, with which tool they are looked up, and which of what was found goes into each field. It sees words of
the question and of the fields, and how red the picture is around each book. Everything else is fixed: a book is looked
up by its number, and a table is filled by the names of its columns. Workbooks, a quarter of the tasks, are out of its
reach. With --shuffled, the rewards of a group are dealt out at random: then nothing can be learned.
"""

import argparse
import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from PIL import Image

from m3bench.server.lab.training.environment import Environment, EnvironmentOptions, RemoteEpisode

Floats = npt.NDArray[np.float64]

WORDS = 96
"""Buckets that words are hashed into."""
FIRST = ("pyzbar-mcp__scan_barcode", "amazon__search_products", "excel__get_workbook_metadata", "math__sum")
LOOKUPS = ("openlibrary_mcp__get_book_info", "amazon__search_products")
NUMBERS = ("pages together", "price together", "money left", "most pages", "highest price", "number of books")
TEXTS = ("dearest", "cheapest", "longest", "newest", "first author", "publisher of the newest")
LEVELS = 8
"""Of redness around a book."""
FAMILY = "barcode_lookup"
TOOLS = f"family:{FAMILY}"
FLIGHT = 8
TASKS = 4
"""Tasks in a batch."""
EVERY = 8
"""Iterations between two looks at the tasks for testing, each of which is played so often:"""
REPEATS = 3
GROUP = 8
"""Episodes of a task in a batch; their mean is what each is held against."""
RATE = 0.6
DISCOUNT = 0.5
LEAST_SPREAD = 0.05
WEIGHTS = {"solved": 1.0, "shaping": 1.0, "budget": 1.0}


def hashed(text: str) -> Floats:
    """Words of a text as a vector."""
    found = np.zeros(WORDS)
    for word in set(re.findall(r"[a-z]+", text.lower())):
        found[crc32(word.encode()) % WORDS] = 1.0
    return found / max(1.0, float(np.sqrt(found.sum())))


@dataclass
class Choice:
    """A choice that was made: where its parameters are, what it saw, and how it came out."""

    part: str
    seen: Floats
    chosen: int
    turn: int


@dataclass
class Played:
    """An episode that was played."""

    dice: np.random.Generator
    choices: list[Choice] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    solved: bool = False
    void: bool = False


class Policy:
    """Linear choices: for each part a table of options by features."""

    def __init__(self) -> None:
        self.tables: dict[str, Floats] = {
            "first": np.zeros((len(FIRST), WORDS + 1)),
            "keep": np.zeros((2, LEVELS)),
            "lookup": np.zeros((len(LOOKUPS), WORDS + 1)),
            "number": np.zeros((len(NUMBERS), WORDS + 1)),
            "text": np.zeros((len(TEXTS), WORDS + 1)),
        }

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(table.size for table in self.tables.values())

    def odds(self, part: str, seen: Floats) -> Floats:
        """The probability of each option."""
        scores = self.tables[part] @ seen
        raised = np.exp(scores - scores.max())
        odds: Floats = raised / raised.sum()
        return odds

    def choose(self, part: str, seen: Floats, turn: int, played: Played) -> int:
        """Choose, and put it down."""
        odds = self.odds(part, seen)
        chosen = int(played.dice.choice(len(odds), p=odds))
        played.choices.append(Choice(part, seen, chosen, turn))
        return chosen

    def learn(self, batch: Sequence[tuple[Played, Sequence[float]]]) -> None:
        """One step along the gradient, given the advantage of each turn of each episode."""
        slopes = {part: np.zeros_like(table) for part, table in self.tables.items()}
        for played, advantages in batch:
            for choice in played.choices:
                pull = -self.odds(choice.part, choice.seen)
                pull[choice.chosen] += 1.0
                slopes[choice.part] += advantages[choice.turn] * np.outer(pull, choice.seen)
        for part, slope in slopes.items():
            self.tables[part] += RATE * slope / max(1, len(batch) / GROUP)


def redness(picture: npt.NDArray[np.int16], rect: Mapping[str, int]) -> Floats:
    """How much red there is around a barcode, as one of several levels."""
    x, y, wide, high = rect["x"], rect["y"], rect["width"], rect["height"]
    part = picture[max(0, y - 2 * high) : y + 3 * high, max(0, x - wide // 2) : x + 3 * wide // 2]
    red = (part[..., 0] > 140) & (part[..., 1] < 90) & (part[..., 2] < 100)
    level = min(LEVELS - 1, int(np.sqrt(red.mean() if red.size else 0.0) * 24))
    seen: Floats = np.zeros(LEVELS)
    seen[level] = 1.0
    return seen


@dataclass
class Book:
    """What was found out about a book."""

    title: str = ""
    author: str = ""
    pages: float = 0.0
    year: str = ""
    publisher: str = ""
    price: float = 0.0


def book_of(text: str) -> Book:
    """A book as either tool tells of it."""
    if text.lstrip().startswith("{"):
        found = json.loads(text).get("metadata") or {}
        publisher = found.get("publisher") or [""]
        return Book(
            title=str(found.get("title", "")), author=", ".join(found.get("authors") or []),
            pages=float(found.get("pages") or 0), year=str(found.get("publish_date", "")), publisher=str(publisher[0]),
        )  # fmt: skip
    name = re.match(r"- (.+) by (.+)", text)
    price = re.search(r"Price: \$([\d.]+)", text)
    title, author = name.groups() if name else (text.partition("\n")[0].removeprefix("- "), "")
    return Book(title=title, author=author, price=float(price[1]) if price else 0.0)


def filled(asked: Mapping[str, Any], books: Sequence[Book], question: str, option: int) -> object:
    """The value of a field, by the option that was chosen for it."""
    kind = asked["type"]
    if kind == "table":
        return [{c["name"]: getattr(book, c["name"], "") for c in asked["columns"]} for book in books]
    if kind in ("integer", "number", "money"):
        spent = sum(book.price for book in books)
        budget = max((float(number) for number in re.findall(r"\d+(?:\.\d+)?", question)), default=0.0)
        values = (
            sum(book.pages for book in books), spent, budget - spent, max((book.pages for book in books), default=0),
            max((book.price for book in books), default=0), len(books),
        )  # fmt: skip
        return round(values[option], 2)
    if kind == "text" and books:
        newest = max(books, key=lambda book: book.year)
        texts = (
            max(books, key=lambda book: book.price).title, min(books, key=lambda book: book.price).title,
            max(books, key=lambda book: book.pages).title, newest.title, books[0].author, newest.publisher,
        )  # fmt: skip
        return texts[option]
    return ""


def play(policy: Policy, episode: RemoteEpisode, dice: np.random.Generator) -> Played:
    """Play an episode to its end."""
    played, facts = Played(dice), episode.facts
    question = np.append(hashed(facts["question"]), 1.0)
    first = FIRST[policy.choose("first", question, 0, played)]
    given = {"image_paths": facts["pictures"][0]} if first == FIRST[0] else {}
    turn = episode.step([{"name": first, "arguments": given}])
    played.rewards.append(turn.reward.total or 0.0)
    codes = json.loads(turn.texts[0])["metadata"]["results"] if first == FIRST[0] else []
    data = next(block["data"] for block in episode.opening["content"] if block["type"] == "image")
    picture = np.asarray(Image.open(BytesIO(b64decode(data))).convert("RGB"), dtype=np.int16)
    kept = [c for c in codes if policy.choose("keep", redness(picture, c["rect"]), 1, played)]
    tool = LOOKUPS[policy.choose("lookup", question, 1, played)]
    argument = "isbn" if tool == LOOKUPS[0] else "keywords"
    turn = episode.step([{"name": tool, "arguments": {argument: code["data"]}} for code in kept])
    played.rewards.append(turn.reward.total or 0.0)
    books = [book_of(text) for text in turn.texts]
    fields = {}
    for asked in facts.get("fields", []):
        part = {"text": "text", "table": "", "file": ""}.get(asked["type"], "number")
        seen = np.append(hashed(f"{asked['name'].replace('_', ' ')} {asked['meaning']}"), 1.0)
        option = policy.choose(part, seen, 2, played) if part else 0
        fields[asked["name"]] = filled(asked, books, facts["question"], option)
    turn = episode.submit("These are the books.", fields)
    if not turn.done:
        turn = episode.submit("These are the books.", fields)
    played.void = turn.reward.total is None
    played.rewards.append(turn.reward.total or 0.0)
    played.solved = turn.reward.parts.get("solved") == 1.0
    return played


def returns(rewards: Sequence[float]) -> list[float]:
    """What follows each turn, discounted."""
    found = 0.0
    back = []
    for reward in reversed(rewards):
        found = reward + DISCOUNT * found
        back.append(found)
    return back[::-1]


def played_together(
    policy: Policy, environment: Environment, tasks: Sequence[str], dice: np.random.Generator
) -> list[Played]:
    """An episode of each of these tasks, several at a time; what is void is left out."""
    with ThreadPoolExecutor(FLIGHT) as pool:
        found = pool.map(lambda task, own: play(policy, environment.reset(task), own), tasks, dice.spawn(len(tasks)))
        return [played for played in found if not played.void]


def advantages(group: Sequence[Played], dice: np.random.Generator, *, shuffled: bool) -> list[list[float]]:
    """How much better each turn of a group's episodes went than the mean, in standard deviations.

    What goes into the fields moves no potential: it is held against `solved` alone.
    """
    after = np.array([[*returns(played.rewards)[:-1], float(played.solved)] for played in group])
    if shuffled:
        after = dice.permuted(after, axis=0)
    found: list[list[float]] = ((after - after.mean(axis=0)) / (after.std(axis=0) + LEAST_SPREAD)).tolist()
    return found


def trained(train: Path, test: str, iterations: int, *, shuffled: bool, seed: int = 0) -> dict[str, Any]:
    """Train a policy; the shares it solves of the tasks for testing and of a batch, as it goes."""
    dice, policy = np.random.default_rng(seed), Policy()
    options = EnvironmentOptions(split="train", weights=WEIGHTS, max_calls=24, tools=TOOLS)
    curve: list[dict[str, float]] = []
    with Environment(train, options) as practice, Environment(test, replace(options, split="test")) as exam:
        asked = [task for task in exam.tasks if exam.library.task(task).family == FAMILY]
        for number in range(iterations + 1):
            chosen = [str(task) for task in dice.choice(practice.tasks, size=TASKS, replace=False)]
            groups = [played_together(policy, practice, [task] * GROUP, dice) for task in chosen]
            share = sum(played.solved for group in groups for played in group) / sum(map(len, groups))
            curve.append({"iteration": number, "train": round(share, 3)})
            if number % EVERY == 0:
                held = played_together(policy, exam, asked * REPEATS, dice)
                curve[-1]["test"] = round(sum(played.solved for played in held) / len(held), 3)
            print(json.dumps(curve[-1]), flush=True)
            batch = [
                pair for group in groups for pair in zip(group, advantages(group, dice, shuffled=shuffled), strict=True)
            ]
            policy.learn(batch)
    return {"parameters": policy.size, "shuffled": shuffled, "curve": curve}


def main() -> None:
    """Train, and write the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", nargs="?", default="m3")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = trained(options.train, options.test, options.iterations, shuffled=options.shuffled, seed=options.seed)
    if options.json is not None:
        options.json.write_text(f"{json.dumps(found, indent=2)}\n")


if __name__ == "__main__":
    main()
