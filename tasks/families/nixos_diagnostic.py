"""A screen with package names, marked by hand: which of the ticked ones exist, which Home Manager knows, or the history of the circled one."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher

from m3bench.tasks.answers.fields import Code, Field, Integer, Items, Name, Table, Version
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, rect
from m3bench.tasks.scene import Box

Line = Sequence[tuple[str, str]]
"""Pieces of a line, each with the name of its colour: plain, key, name, text, faint or mark."""


@dataclass(frozen=True)
class Theme:
    """Colours of a window."""

    ground: str
    bar: str
    plain: str
    key: str
    name: str
    text: str
    faint: str
    mark: str


THEMES = (
    Theme("#1e2430", "#141922", "#e6e9ef", "#8fc7ff", "#f2f4f8", "#b8e28c", "#5c6678", "#ffb86b"),
    Theme("#282c34", "#1d2026", "#e3e6ec", "#d9a2f5", "#ffffff", "#a9dc8b", "#626b7c", "#f0c674"),
    Theme("#0f2027", "#0a161b", "#dbe8ea", "#7fd6e8", "#f4fbfc", "#c7e89a", "#4d6570", "#ffc78a"),
    Theme("#fdfdfb", "#e8e6e1", "#2b2f36", "#7a1fa2", "#14171c", "#1f6f3b", "#b4b1aa", "#a8470c"),
    Theme("#fbf6e9", "#e9e0c9", "#3b3a35", "#1c5a9c", "#1d1c19", "#4b6a10", "#c3b996", "#a3421a"),
)
_DESKTOPS = (
    ("#5b86c4", "#2e4372"),
    ("#c98a6b", "#5c3a54"),
    ("#5fa08e", "#25495a"),
    ("#8e7cc3", "#3b2f63"),
    ("#a9b7c6", "#56657a"),
)


def window(canvas: Canvas, rng: random.Random, title: str, lines: Sequence[Line], *, size: float = 32) -> list[Box]:
    """A window in the middle of a desktop, as large as its lines need; returns the box of the last piece of each line.

    Args:
        canvas: Where.
        rng: Chooses theme, desktop and place.
        title: Of the window, such as a file name.
        lines: What stands in it.
        size: Of the font in pixels.
    """
    theme = rng.choice(THEMES)
    canvas.draw(
        fade("desktop", *rng.choice(_DESKTOPS), across=rng.random() < 0.5),
        rect(0, 0, canvas.width, canvas.height, "url(#desktop)"),
    )
    for _ in range(3):
        x, y, wide = rng.uniform(0, canvas.width), rng.uniform(0, canvas.height), rng.uniform(160, 380)
        canvas.draw(ellipse(x, y, wide, wide, "#ffffff", 'opacity="0.07"'))
    left, top = rng.uniform(60, 120), rng.uniform(36, 60)
    right, bottom = canvas.width - rng.uniform(60, 120), canvas.height - rng.uniform(36, 60)
    canvas.draw(
        rect(left + 6, top + 14, right - left, bottom - top, "#00000055", 16),
        rect(left, top, right - left, bottom - top, theme.ground, 14),
        rect(left, top, right - left, 58, theme.bar, 14),
        rect(left, top + 40, right - left, 18, theme.bar),
        *(
            ellipse(left + 34 + 34 * number, top + 29, 10, 10, colour)
            for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
    )
    canvas.text(
        title, (left + right) / 2, top + 39, 27, face="mono", fill=mix(theme.plain, theme.bar, 0.15), anchor="middle"
    )
    pitch = min(size * 1.55, (bottom - top - 58 - 40) / len(lines))
    y = top + 58 + 16 + pitch * 0.75
    boxes: list[Box] = []
    for pieces in lines:
        x = left + 40
        box: Box = (round(x), round(y - size * 0.75), round(x), round(y))
        for text, colour in pieces:
            if text.strip():
                lead = len(text) - len(text.lstrip())
                start = x + canvas.art.width(" " * lead, size, "mono")
                box = canvas.text(text.strip(), start, y, size, face="mono bold", fill=getattr(theme, colour))
            x += canvas.art.width(text, size, "mono")
        boxes.append(box)
        y += pitch
    return boxes


_CHANNELS = ("unstable", "25.05", "25.11")
_BELOW = {"home.nix": 2, "configuration.nix": 1, "shell.nix": 2, "Terminal": 1}
"""Lines below the names on each kind of screen."""
_LISTED = {"known": 5, "unknown": 3, "later": 4}
"""How many names of each kind are on a screen."""
_TICKED = {"known": 3, "unknown": 2}
"""How many of them are ticked."""


class NixosDiagnostic(Family):
    """Read once; then five searches, five modules and their options, or releases of one package."""

    name = "nixos_diagnostic"
    servers = ("ocr", "nixos")
    known = words()
    unknown = words()
    later = words()
    licences = table(dict[str, tuple[str, ...]])
    """What else licences are called."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A file in an editor or a list in a terminal; five names are ticked, one is circled, the others are crossed out."""
        pools = {"known": self.known, "unknown": self.unknown, "later": self.later}
        kinds = {kind: rng.sample(pools[kind], count) for kind, count in _LISTED.items()}
        listed = [name for names in kinds.values() for name in names]
        rng.shuffle(listed)
        ticked = {name for kind, count in _TICKED.items() for name in rng.sample(kinds[kind], count)}
        circled = rng.choice([name for name in listed if name not in ticked and name not in kinds["unknown"]])
        canvas = Canvas(kit.art, 1280, 1080)
        title, lines = rng.choice((_home, _system, _shell, _terminal))(rng, listed)
        boxes = window(canvas, rng, title, lines, size=34)
        for name, box in zip(listed, boxes[len(lines) - _BELOW[title] - len(listed) :], strict=False):
            _mark(canvas, rng, box, ticked=name in ticked, circled=name == circled)
        return Composition.of(
            canvas,
            listed=listed,
            ticked=[name for name in listed if name in ticked],
            known=[name for name in listed if name in ticked and name in kinds["known"]],
            circled=circled,
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read, then by goal."""
        channel = rng.choice(_CHANNELS)
        (text,) = await play.step(call("ocr/perform_ocr", {"input_data": path}, free=("language", "config")))
        listed: list[str] = composition.facts["listed"]
        # A letter may be read wrongly, which whoever sees the screen mends.
        read = _names(text)
        legible = [SequenceMatcher(None, *pair).ratio() > 0.8 for pair in zip(listed, read, strict=False)]
        need(legible == [True] * len(listed), f"the names must be legible: {text}")
        ticked, known = composition.facts["ticked"], composition.facts["known"]
        match play.goal:
            case "available":
                return await self._available(ticked, known, channel, path, play)
            case "modules":
                return await self._modules(ticked, known, path, play)
            case _:
                return await self._history(composition.facts["circled"], channel, path, play)

    async def _available(
        self, names: Sequence[str], known: Sequence[str], channel: str, path: str, play: Script
    ) -> Solution:
        """Which of the ticked ones are in a channel, and at which version."""
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
        need(list(versions) == list(known), "three of them exist")
        need(len(set(versions.values())) > 1, "all have one version")
        missing = [name for name in names if name not in versions]
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        return Solution(
            wording=f"Read the package names in {path}, and find which of the ticked ones are in nixpkgs {channel}, at which version.",
            answer=f"Of the ticked ones, {' and '.join(missing)} are not in {channel}. The others are: {told}.",
            fields=(
                Field(
                    name="available",
                    meaning="those of the ticked packages that the channel has, each with its version there",
                    value=Table(
                        columns=("package", "version"),
                        rows=tuple(
                            (_package(name, names), Version(value=version)) for name, version in versions.items()
                        ),
                    ),
                ),
                Field(
                    name="missing",
                    meaning="those of the ticked packages that it does not have",
                    value=Items(items=tuple(_package(name, names) for name in missing)),
                ),
            ),
            given={"channel": channel},
            alternatives=(play.varied("Read by eye.", {0: ()}),),
        )

    async def _modules(self, names: Sequence[str], known: Sequence[str], path: str, play: Script) -> Solution:
        """Which of the ticked ones Home Manager can configure, how they are turned on, and how much can be set."""
        searches = [
            call("nixos/home_manager_search", {"query": name}, free=("limit",), words={"query": (name,)})
            for name in names
        ]
        found = dict(zip(names, await play.step(*searches), strict=True))
        switches = {name: option for name, text in found.items() if (option := _switch(name, text))}
        need(list(switches) == list(known), "Home Manager must offer the same three")
        prefixes = [option.removesuffix(".enable") for option in switches.values()]
        texts = await play.step(
            *(
                call(
                    "nixos/home_manager_options_by_prefix",
                    {"option_prefix": prefix},
                    either={"option_prefix": (prefix, f"{prefix}.")},
                )
                for prefix in prefixes
            )
        )
        counts = [
            len(set(re.findall(rf"^• ({re.escape(prefix)}\.\S+)", text, re.M)))
            for prefix, text in zip(prefixes, texts, strict=True)
        ]
        need(all(f"({count} found)" in text for count, text in zip(counts, texts, strict=True)), "others begin like it")
        need(len(set(counts)) == len(counts), "two have equally many options")
        missing = [name for name in names if name not in switches]
        rows = list(zip(switches.items(), counts, strict=True))
        return Solution(
            wording=f"Read the package names in {path}, and for the ticked ones find the Home Manager option that enables each, and how many options its module has.",
            answer="; ".join(f"{name} is enabled by {option} and has {count} options" for (name, option), count in rows)
            + f". There is no module for {' and '.join(missing)}.",
            fields=(
                Field(
                    name="modules",
                    meaning="those of the ticked packages with a Home Manager module: the option that enables it, how many options it has",
                    value=Table(
                        columns=("package", "enable_option", "options"),
                        rows=tuple(
                            (
                                _package(name, names),
                                Code(form="option", value=option, aliases=(f"{option} = true",)),
                                Integer(value=count),
                            )
                            for (name, option), count in rows
                        ),
                    ),
                ),
                Field(
                    name="without_module",
                    meaning="those of the ticked packages for which Home Manager has none",
                    value=Items(items=tuple(_package(name, names) for name in missing)),
                ),
            ),
            alternatives=(play.varied("Read by eye.", {0: ()}),),
        )

    async def _history(self, name: str, channel: str, path: str, play: Script) -> Solution:
        """The circled package: what a channel has, and the oldest release that is known."""
        info = call(
            "nixos/nixos_info",
            {"name": name, "type": "package", "channel": channel},
            either={**_either(channel), "type": ("package", None)},
        )
        text, releases = await play.step(
            info, call("nixos/nixhub_package_versions", {"package_name": name}, free=("limit",))
        )
        current = re.findall(r"^Version: (.+)$", text, re.M)[0]
        licence = re.findall(r"^License: (.+)$", text, re.M)[0]
        shown = re.findall(r"• Version (\S+)\n  Last updated: (\S+) .*\n(?:.*\n)*?  Nixpkgs commit: (\w+)", releases)
        need(f"of {len(shown)})" in releases and len(shown) > 2, "not all releases are shown")
        oldest, first, commit = shown[-1]
        later = [(date.fromisoformat(day) - date.fromisoformat(first)).days for _, day, _ in shown[:-1]]
        need(
            all(_plain(version) for version in (current, *(version for version, _, _ in shown))),
            "a version is no number",
        )
        need(min((one for one, _, _ in shown), key=_parts) == oldest, "a later release has a lower number")
        need(_parts(current) != _parts(oldest), "the channel has the oldest")
        # Whether "GPL 3" also means later versions would be a matter of opinion.
        need("GNU" not in licence and licence in self.licences, "its short name is ambiguous, or not known")
        return Solution(
            wording=f"Read the circled package name in {path}, and give its version and licence in {channel}, and the oldest release on NixHub with its commit.",
            answer=f"In {channel} the circled one, {name}, is at {current} under the {licence}. The oldest known release is {oldest}, at commit {commit}.",
            fields=(
                Field(
                    name="current_version",
                    meaning="the version of the circled package in the channel",
                    value=Version(value=current),
                ),
                Field(name="licence", meaning="the licence of that package", value=_licence(licence)),
                Field(
                    name="oldest_version",
                    meaning="the oldest release of it in the version history",
                    value=Version(value=oldest),
                    compared=(0.0, *map(float, later)),
                ),
                Field(
                    name="commit",
                    meaning="the nixpkgs commit that has this release",
                    value=Code(form="commit", value=commit, aliases=tuple(commit[:many] for many in range(7, 40))),
                ),
            ),
            given={"channel": channel},
            alternatives=(play.varied("Read by eye.", {0: ()}),),
        )


def _either(channel: str) -> dict[str, tuple[str | None, ...]]:
    return {"channel": (channel, None) if channel == "unstable" else (channel,)}


def _package(name: str, names: Sequence[str]) -> Name:
    return Name(value=name, others=tuple(other for other in names if other != name))


def _licence(name: str) -> Name:
    """A licence by its name or by what people call it."""
    others = tuple(other for other in NixosDiagnostic.licences if other != name)
    return Name(
        value=name,
        aliases=NixosDiagnostic.licences.get(name, ()),
        others=(*others, *(alias for other in others for alias in NixosDiagnostic.licences[other])),
        context=("license licence the under software version",),
    )


def _version(name: str, text: str) -> str | None:
    found = re.search(rf"^• {re.escape(name)} \((.+)\)$", text, re.M)
    return found[1] if found else None


def _parts(version: str) -> list[int]:
    """The numbers of a version, without zeros at its end."""
    return list(map(int, re.sub(r"(?:\.0+)+$", "", version).replace("-", ".").split("."))) if _plain(version) else []


def _plain(version: str) -> bool:
    return re.fullmatch(r"\d+(?:[.-]\d+)*", version) is not None


def _switch(name: str, text: str) -> str | None:
    """The one option that enables a program or service."""
    found = re.findall(rf"^• ((?:programs|services)\.{re.escape(name)}\.enable)$", text, re.M)
    return found[0] if len(found) == 1 else None


def _names(text: str) -> list[str]:
    """The names in a text as it was read: what stands alone on a line within the brackets or below the command."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    start = next(number for number, line in enumerate(lines) if "= with pkgs" in line or "cat " in line)
    names = []
    for line in lines[start + 1 :]:
        found = re.fullmatch(r"\W*([a-z][a-z0-9-]+)\b.{0,6}", line.casefold().replace("- ", "-"))
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


def _mark(canvas: Canvas, rng: random.Random, box: Box, *, ticked: bool, circled: bool) -> None:
    """What somebody has drawn at a name: a loop around it, or a tick or a cross behind it."""
    x, y = box[2] + rng.uniform(70, 110), (box[1] + box[3]) / 2 + rng.uniform(-3, 3)
    if circled:
        pen.loop(canvas, rng, box, air=7, width=5)
    elif ticked:
        pen.tick(canvas, rng, x, y + 14, 34, pen.RED)
    else:
        pen.cross(canvas, rng, x, y, 28, pen.RED)


def _items(names: Sequence[str], indent: int) -> list[Line]:
    return [[(" " * indent + name, "name")] for name in names]
