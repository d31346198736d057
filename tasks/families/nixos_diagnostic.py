"""A screen with package names: read them, see which of the first five exist, and find their switches and articles."""

import random
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from m3bench.tasks.checks import AnswerNames, BackedByCall, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.editor import Line, window

_SERVICES = ("redshift", "syncthing")
_KNOWN = (
    "chromium", "direnv", "firefox", "fish", "git", "htop", "less", "neovim", "nix-index", "obs-studio", "starship",
    "thunderbird", "tmux", "vim", "zsh", *_SERVICES,
)  # fmt: skip
_UNKNOWN = (
    "mossgrep", "packhorse", "ferrycat", "driftmux", "copperbar", "gannetd", "termhopper", "hushdog", "tundrash",
    "riverdiff", "oakprompt", "duskterm", "ravenmux", "embershot", "pathbender", "ghostcron", "quietcat", "hexgarden",
    "turbogrep", "nimbushd", "stoatwm", "bramblewm", "thimbre", "marshbeat", "windowsmith",
)  # fmt: skip
_LATER = ("ripgrep", "jq", "fzf", "curl", "wget", "bat", "tree", "unzip", "ffmpeg", "nodejs", "go", "cmake")
_CHANNELS = ("unstable", "25.05", "25.11")
_ABOUT = {"fish": "fish shell"}
"""What to look up when the name alone means something else."""
FIRST = 5


class NixosDiagnostic:
    """Read once, search five, then options, Home Manager and the encyclopedia for those that exist."""

    name = "nixos_diagnostic"
    servers = ("ocr", "nixos", "wiki")
    questions = (
        "My rebuild fails and this screen is all I have. Of the first five packages listed, which ones are really in nixpkgs "
        "{channel} and at what version? For those, name the NixOS enable option and the Home Manager one, with a line of "
        "background from an encyclopedia. Which are bogus?",
        "hi, colleague sent me a screenshot of his config. check entries 1 to 5 against channel {channel}: real or made up, "
        "version if real. then the system-wide switch, the home-manager switch and who's behind that software (wiki is fine)",
        "Please diagnose the setup pictured here. I want to learn, for the top five names only, whether nixpkgs ({channel}) "
        "carries them. Where it does: current release number, module toggles on both NixOS and Home Manager level, plus some "
        "encyclopedic history.",
        "An AI wrote me this list and I don't trust it. Look at its initial five items; tell me what it hallucinated as far "
        "as {channel} goes. Report versions of the genuine programs, whether one can enable each through NixOS options and "
        "through Home Manager, and a summary sentence.",
        "Code review time: does everything at the beginning of that list (five lines) resolve under NixOS {channel}? Flag "
        "missing attributes. Existing tools deserve three facts apiece, namely version, both .enable option paths, and an "
        "explanation what they are for newcomers.",
        "Migrating from Arch, be gentle. Someone's machine shows the software I'd need; take the five at the start. Can I get "
        "them from {channel}, in which edition, do modules exist to turn them on (for the whole computer and per user in Home "
        "Manager), and what's their story?",
        "I'd like a sanity report on the attached image. Scope: five leading package identifiers, channel {channel}. Output "
        "per valid identifier: version string, option for configuration.nix, option for home.nix, encyclopedia digest. "
        "Output otherwise: say it cannot be found.",
        "Before I paste these into my flake pinned to {channel}: only the opening quintet matters. Sort it into available "
        "versus nonexistent. With the available ones give me version numbers and how Home Manager and NixOS spell their enable "
        "settings; add trivia from the wiki.",
        "Workshop handout needed! Using what the photographed display lists first (five things), verify presence within "
        "{channel}, cite the packaged version, quote NixOS plus Home Manager enabling options, describe every confirmed tool "
        "in two sentences, then mention whatever turned out imaginary.",
        "Broken dotfiles again, sigh. Could somebody tell apart typos and true packages among lines one through five of the "
        "names shown? Target is {channel}. True ones: which version ships, what do I set system-side, what user-side via Home "
        "Manager, and what does the encyclopedia say?",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A file in an editor or a list in a terminal."""
        known, unknown = rng.sample(_KNOWN, 3), rng.sample(_UNKNOWN, FIRST - 3)
        first = [*known, *unknown]
        rng.shuffle(first)
        listed = [*first, *rng.sample(_LATER, rng.choice((1, 2, 3)))]
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
