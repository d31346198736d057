"""A screen with package names: read them, see which of the first five exist, and find their switches and articles."""

import random
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from m3bench.tasks.checks import AnswerNames, BackedByCall, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.editor import Line, window

_SERVICES = ("redshift", "syncthing")
_CHANNELS = ("unstable", "25.05", "25.11")
_ABOUT = {"fish": "fish shell"}
"""What to look up when the name alone means something else."""
FIRST = 5


class _Tables(Tables):
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    later: tuple[str, ...]


_tables = tables("nixos_diagnostic", _Tables)


class NixosDiagnostic:
    """Read once, search five, then options, Home Manager and the encyclopedia for those that exist."""

    name = "nixos_diagnostic"
    servers = ("ocr", "nixos", "wiki")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A file in an editor or a list in a terminal."""
        known, unknown = rng.sample(_tables().known, 3), rng.sample(_tables().unknown, FIRST - 3)
        first = [*known, *unknown]
        rng.shuffle(first)
        listed = [*first, *rng.sample(_tables().later, rng.choice((1, 2, 3)))]
        canvas = Canvas(kit.art, 1280, 860)
        title, lines = rng.choice((_home, _system, _shell, _terminal))(rng, listed)
        window(canvas, rng, title, lines, size=34)
        return Composition.of(canvas, listed=listed, known=[name for name in first if name in known])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read, search, then what is known of those that exist."""
        channel = rng.choice(_CHANNELS)
        (text,) = await play.step(call("ocr/perform_ocr", {"input_data": path}, free=("language", "config")))
        names: list[str] = composition.facts["listed"][:FIRST]
        # A letter may be read wrongly, which whoever sees the screen mends.
        legible = [SequenceMatcher(None, *pair).ratio() > 0.8 for pair in zip(names, _names(text), strict=False)]
        need(legible == [True] * FIRST, f"the names must be legible: {text}")
        searches = [
            call(
                "nixos/nixos_search",
                {"query": name, "limit": 5, "channel": channel},
                free=("limit", "search_type"),
                either=_either(channel),
            )
            for name in names
        ]
        found = dict(zip(names, await play.step(*searches), strict=True))
        versions = {name: version for name, text in found.items() if (version := _version(name, text))}
        assert list(versions) == composition.facts["known"], "three of them exist"
        options = [
            call(
                "nixos/nixos_info",
                {"name": _option(name), "type": "option", "channel": channel},
                either={"channel": (channel, None)},
            )
            for name in versions
        ]
        homes = [
            call("nixos/home_manager_search", {"query": name}, free=("limit",), words={"query": (name,)})
            for name in versions
        ]
        looks = [
            call("wiki/search", {"query": _ABOUT.get(name, name)}, free=("n",), words={"query": (name,)})
            for name in versions
        ]
        texts = await play.step(*options, *homes, *looks)
        systems, offered, articles = (texts[start : start + 3] for start in (0, 3, 6))
        titles = [text.split("\n")[1].removeprefix("- ") for text in articles]
        assert all(_option(name) in text for name, text in zip(versions, offered, strict=True)), (
            "Home Manager must offer them"
        )
        users = [call("nixos/home_manager_info", {"name": _option(name)}) for name in versions]
        reads = [
            call("wiki/summary", {"title": title}, either={"title": (title, _ABOUT.get(name, name))})
            for title, name in zip(titles, versions, strict=True)
        ]
        texts = await play.step(*users, *reads)
        missing = [name for name in names if name not in versions]
        told = " ".join(
            f"{name} {versions[name]}: NixOS {_option(name)} ({_said(system)}), Home Manager {_option(name)} ({_said(home)}) {_lead(lead)}"
            for name, system, home, lead in zip(versions, systems, texts[:3], texts[3:], strict=True)
        )
        return Solution(
            wording=f"Read the package names in {path}, look the first five up in nixpkgs {channel}, and for the three that exist give the "
            "version, the NixOS option, the Home Manager option and an encyclopedia summary.",
            answer=f"Of the first five, {' and '.join(missing)} do not exist in {channel}. {told}",
            checks=(
                AnswerNames(all_of=tuple((f"{version}",) for version in versions.values())),
                AnswerNames(all_of=tuple((name,) for name in missing)),
                AnswerNames(all_of=tuple((_option(name),) for name in versions)),
                *(BackedByCall(any_of=(_option(name),)) for name in versions),
                CallMade(tool="wiki/summary", times=3),
                CallMade(tool="nixos/nixos_search", containing=channel if channel != "unstable" else "", times=FIRST),
            ),
            given={"channel": channel},
            alternatives=(play.varied("The articles without a search.", {2: [*options, *homes]}),),
        )


def _either(channel: str) -> dict[str, tuple[str | None, ...]]:
    return {"channel": (channel, None) if channel == "unstable" else (channel,)}


def _option(name: str) -> str:
    return f"{'services' if name in _SERVICES else 'programs'}.{name}.enable"


def _version(name: str, text: str) -> str | None:
    found = re.search(rf"^• {re.escape(name)} \((.+)\)$", text, re.M)
    return found[1] if found else None


def _said(text: str) -> str:
    found = re.search(r"Description: (.+)", text)
    return found[1].rstrip(".") if found else "no description"


def _lead(text: str) -> str:
    return text.split("\n\n")[1]


def _names(text: str) -> list[str]:
    """The names in a text as it was read: what stands alone on a line within the brackets or below the command."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    start = next(number for number, line in enumerate(lines) if "= with pkgs" in line or "cat " in line)
    names = []
    for line in lines[start + 1 :]:
        found = re.fullmatch(r"\W*([a-z][a-z0-9-]+)\b.{0,3}", line.casefold().replace("- ", "-"))
        if not found:
            break
        names.append(found[1])
    return names


def _home(rng: random.Random, names: Sequence[str]) -> tuple[str, list[Line]]:
    head: list[Line] = [
        [("{ pkgs, ... }:", "plain")],
        [("{", "plain")],
        [("  home.packages", "key"), (" = with pkgs; [", "plain")],
    ]
    return "home.nix", [*head, *_items(names, 4), [("  ];", "plain")], [("}", "plain")]]


def _system(rng: random.Random, names: Sequence[str]) -> tuple[str, list[Line]]:
    head: list[Line] = [
        [("# the tools I want everywhere", "text")],
        [("environment.systemPackages", "key"), (" = with pkgs; [", "plain")],
    ]
    return "configuration.nix", [*head, *_items(names, 2), [("];", "plain")]]


def _shell(rng: random.Random, names: Sequence[str]) -> tuple[str, list[Line]]:
    head: list[Line] = [
        [("pkgs.mkShell", "key"), (" {", "plain")],
        [("  packages", "key"), (" = with pkgs; [", "plain")],
    ]
    return "shell.nix", [*head, *_items(names, 4), [("  ];", "plain")], [("}", "plain")]]


def _terminal(rng: random.Random, names: Sequence[str]) -> tuple[str, list[Line]]:
    user = rng.choice(("ada", "linus", "grace", "tove", "maria"))
    prompt: Line = [(f"{user}@nixbox:~$ ", "text"), ("cat wanted.txt", "plain")]
    return "Terminal", [prompt, *_items(names, 0), [(f"{user}@nixbox:~$ ", "text"), ("_", "plain")]]


def _items(names: Sequence[str], indent: int) -> list[Line]:
    return [[(" " * indent + name, "name")] for name in names]
