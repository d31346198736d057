"""Draws the animation of the README from a real `m3bench demo`: `make pictures`.

The picture is an SVG in which the lines of a terminal appear one after another; where nothing moves, all are there.
"""

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"

COLUMNS, WIDTH, HIGH, LEFT, TOP, LETTER = 120, 1060, 19, 22, 62, 14
HOLD = 8.0
"""Seconds that the whole stays before it begins again."""

FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
INK, SOFT, GREEN, RED, AMBER, BLUE = "#e6edf3", "#8b949e", "#56d364", "#ff7b72", "#e3b341", "#79c0ff"
WORDS = re.compile(r"(✓|✗ missed|\+ not needed|\b[01]\.\d{3}\b|\byes\b|\bno\b|\d of \d)")


def shown(folder: Path) -> str:
    """What the command prints, with paths as seen from the clone."""
    program = [sys.executable, "-m", "m3bench.server.cli", "demo"]
    settings = {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "M3BENCH_DATA": str(folder)}
    done = subprocess.run(
        program, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | settings
    )
    lines = [line.rstrip() for line in done.stdout.replace(f"{ROOT}/", "").splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def drawn(text: str) -> str:
    """The animation."""
    lines, moments, now = ["$ m3bench demo", *text.splitlines()], [], 0.6
    for number, line in enumerate(lines):
        moments.append(now)
        now += 0.9 if number < 4 else 0.5 if not line else 0.12
    total, tall = now + HOLD, TOP + HIGH * len(lines) + 14
    rules, parts = [], []
    for number, (line, moment) in enumerate(zip(lines, moments, strict=True)):
        if line:
            share = 100 * moment / total
            rules.append(f"@keyframes k{number}{{0%,{share:.2f}%{{opacity:0}}{share + 0.5:.2f}%,100%{{opacity:1}}}}")
            rules.append(f".l{number}{{animation:k{number} {total:.1f}s infinite}}")
            parts.append(f'<text class="l{number}" x="{LEFT}" y="{TOP + HIGH * number}">{_line(line, number)}</text>')
    style = (
        f"text{{font:{LETTER}px {FONT};fill:{INK};white-space:pre}}"
        f"{''.join(rules)}@media (prefers-reduced-motion:reduce){{text{{animation:none!important}}}}"
    )
    dots = "".join(
        f'<circle cx="{24 + 20 * at}" cy="22" r="6" fill="{one}"/>' for at, one in enumerate((RED, AMBER, GREEN))
    )
    size = f'viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" height="{tall}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        f"<title>m3bench demo</title><desc>{escape(text)}</desc><style>{style}</style>"
        f'<rect width="{WIDTH}" height="{tall}" rx="12" fill="#0d1117"/>{dots}{"".join(parts)}</svg>\n'
    )


def _line(line: str, number: int) -> str:
    if number == 0:
        return f'<tspan fill="{GREEN}">$</tspan>{escape(line[1:])}'
    if line.endswith("barcode_lookup-1 …") or line.startswith(("Picture", "Now in")) or set(line) <= {" ", "─"}:
        return f'<tspan fill="{SOFT}">{escape(line)}</tspan>'
    if line.startswith(("Task ", "Where ")):
        return f'<tspan fill="{BLUE}" font-weight="bold">{escape(line)}</tspan>'
    return WORDS.sub(lambda word: f'<tspan fill="{_colour(word[0])}">{word[0]}</tspan>', escape(line))


def _colour(word: str) -> str:
    if word in ("✓", "yes", "1.000") or (" of " in word and word[0] == word[-1]):
        return GREEN
    return AMBER if word.startswith("+") or (word.startswith("0.") and word != "0.000") else RED


def text_of(picture: str) -> str:
    """What the command printed when a picture was drawn."""
    from html import unescape

    return unescape(picture.partition("<desc>")[2].partition("</desc>")[0])


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as data:
        PICTURE.write_text(drawn(shown(Path(data))), "utf-8")
    print(f"Written to {PICTURE}")
