"""What the documentation's site needs beyond Markdown: pages from outside this folder, pages of reference, formulas.

mkdocs calls these functions while it builds (`make docs`). They change what is built, never the files: on GitHub the
same pages are read as they are.
"""

import re
from pathlib import Path
from runpy import run_path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "NOTICE": "notice.md",
    "README.md": "index.md",
}
"""Pages of the site by the file at the root of the repository that they show."""

_FENCE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^(```\w+) ([\w./-]+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
_LIST = re.compile(r"^(?!\s|[-*|#>]|\d+\. )(.+)\n(?=(?:- |1\. ))", re.MULTILINE)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\w)", re.DOTALL)
_TEST = re.compile(r"^\[(\w+)\]: \.\./(\S+)$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside and those of reference."""
    from mkdocs.structure.files import File

    reference = run_path(str(Path(__file__).with_name("reference.py")))["pages"]()
    found = {page: outside(name) for name, page in OUTSIDE.items()}
    for page, content in (found | {f"reference/{name}": text for name, text in reference.items()}).items():
        if files.get_file_from_path(page) is None:
            files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page as GitHub would read it."""
    depth = page.file.src_uri.count("/")
    return as_github_reads(inwards(markdown, "../" * (depth + 1), "../" * depth))


def on_page_content(html: str, **_: Any) -> str:
    """Put the formulas in."""
    return re.sub(r"⟦([0-9a-f]+)⟧", lambda mark: drawn(bytes.fromhex(mark[1]).decode()), html)


def on_post_page(output: str, **_: Any) -> str:
    """Give the search a name: the theme makes it a dialog without one."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def as_github_reads(markdown: str) -> str:
    """Blocks that are files get their names as titles, formulas are marked, and a list may follow a line directly."""
    for name, _ in _TEST.findall(markdown):
        markdown = re.sub(rf"\[{name}\](?!:)", f"`{name}`", markdown)
    markdown = _TEST.sub(r"- `\1`: `\2`", markdown)
    parts = _FENCE.split(_FILE.sub(r'\1 title="\2"', markdown))
    return "".join(
        part if part.startswith("`") else _FORMULA.sub(_marked, _LIST.sub(r"\1\n\n", part)) for part in parts
    )


def _marked(formula: re.Match[str]) -> str:
    """A mark in place of a formula, which reads like a word until the page is made."""
    return f"⟦{formula[0].encode().hex()}⟧"


def drawn(formula: str) -> str:
    """A formula as MathML, which browsers draw by themselves."""
    from latex2mathml.converter import convert

    return convert(formula.strip("$"), display="block" if formula.startswith("$$") else "inline")


def outside(name: str) -> str:
    """A file at the root of the repository as a page."""
    text = (ROOT / name).read_text("utf-8")
    if not name.endswith(".md"):
        return f"# {name.capitalize()}\n\n```text\n{text}```\n"
    return inwards(text.replace("](docs/", "]("), "", "")


def inwards(markdown: str, outside: str, inside: str) -> str:
    """Links to files at the root lead to the pages that show them."""

    def link(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        name = target.removeprefix(outside)
        return f"]({inside}{OUTSIDE[name]}{anchor})" if outside + name == target and name in OUTSIDE else match[0]

    return _LINK.sub(link, markdown)
