"""The reference pages of the site, made from the commands and from the models of files each time that it is built.

`python docs/reference.py FOLDER` writes them as Markdown. `python docs/reference.py --seeds` writes docs/seeds.md, a
page that is kept, from docs/seeds.toml.
"""

import ast
import inspect
import json
import sys
import tomllib
from collections import Counter
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer.main
from pydantic import BaseModel

from m3bench.server.commands.program import app

HERE = Path(__file__).resolve().parent

FORMATS = {
    "A set of tasks": ("tasks.json", "m3bench.tasks.task", "TaskSet", ("m3bench.tasks.answers.fields",)),
    "A result set": ("set.json", "m3bench.server.lab.results.resultset", "Header", ()),
    "A sample": ("a line of samples.jsonl", "m3bench.server.lab.results.resultset", "Sample", ()),
    "A plan of a study": ("YAML or JSON", "m3bench.server.lab.studies.plan_file", "StudyPlan", ()),
}
"""Heading: which file it is, and the module and class that read it; more modules with parts of it."""

ELSEWHERE = {
    "value": "What is right, by [type](../tasks.md#what-is-handed-in); hidden until the run is sealed.",
    "checks": "How tasks of version 1, and those without fields, are [judged](../tasks.md#what-a-task-holds).",
}
"""Fields whose types are described on other pages."""


def pages() -> dict[str, str]:
    """Every page by file name."""
    return {"commands.md": _commands_page(), "scorecard.md": _card_page(), "formats.md": _formats_page()}


WORDS = ("equal", "different", "missing")
"""What a feature of a paper is here."""


def seeds() -> dict[str, dict[str, list[list[str]]]]:
    """The features of the papers, by paper and section: name, word, how and why, command, test."""
    found = tomllib.loads((HERE / "seeds.toml").read_text("utf-8"))
    return {paper: {section: table["rows"] for section, table in sections.items()} for paper, sections in found.items()}


def seeds_page() -> str:
    """The page of the features of the papers."""
    found = seeds()
    count = Counter(row[1] for sections in found.values() for rows in sections.values() for row in rows)
    lines = [
        "# The papers, feature by feature", "",
        "*For readers who want to know what of M³-Bench, MCP-Bench, MCPVerse and TOBench is here, and how exactly.*",
        "",
        "Generated from docs/seeds.toml. *Equal* means the paper's method and numbers; the words of prompts are always"
        " ours. *Different* says how and why. *Missing* says why. The papers' public repositories were read where they"
        " are public; what could not be found is said.", "",
        f"Of {count.total()} features {count['equal']} are equal, {count['different']} different and"
        f" {count['missing']} missing.",
    ]  # fmt: skip
    for paper, sections in found.items():
        lines += ["", f"## {paper}"]
        for section, rows in sections.items():
            lines += ["", f"### {paper}: {section}", "", "| feature | here | how, why | command | test |",
                      "|---|---|---|---|---|"]  # fmt: skip
            for feature, word, why, *proofs in rows:
                shown = " | ".join(f"`{proof}`" if proof else "" for proof in proofs)
                lines.append(f"| {_cell(feature)} | *{word}* | {_cell(why)} | {shown} |")
    return "\n".join(lines) + "\n"


def _commands_page() -> str:
    program: Any = typer.main.get_command(app)
    lines = [
        "# Commands", "",
        "Generated from the program; `m3bench COMMAND --help` says the same. Exit codes: 0 done,"
        " 1 the answer is no (a check failed, a sample is void), 2 the request cannot be carried out, 130 stopped with"
        " Ctrl-C. Results go to standard output, progress and notices to standard error.", "",
    ]  # fmt: skip
    panels: dict[str, list[Any]] = {}
    for command in program.commands.values():
        panels.setdefault(command.rich_help_panel or "Other", []).append(command)
    lines += ["| | commands |", "|---|---|"]
    for panel, commands in panels.items():
        links = " · ".join(f"[`{command.name}`](#m3bench-{command.name})" for command in commands)
        lines.append(f"| {panel} | {links} |")
    for commands in panels.values():
        for command in commands:
            lines += _command(command, f"m3bench {command.name}")
    return "\n".join(lines) + "\n"


def _command(command: Any, name: str) -> list[str]:
    lines = ["", f"## {name}", "", _prose(command.help or "")]
    inner = getattr(command, "commands", None)
    if inner:
        return [*lines, *(line for key, child in inner.items() for line in _command(child, f"{name} {key}"))]
    rows = []
    for option in command.params:
        if option.name == "help" or getattr(option, "hidden", False):
            continue
        names = ", ".join(f"`{spelling}`" for spelling in (*option.opts, *option.secondary_opts))
        if option.param_type_name == "argument":
            names = f"`{(option.metavar or option.name).upper()}`"
        rows.append(f"| {names} | {_cell(_meaning(option))} |")
    usage = " ".join([name, *command.collect_usage_pieces(command.context_class(command, info_name=name))])
    lines += ["", "```text", usage, "```"]
    return [*lines, "", "| option | meaning |", "|---|---|", *rows] if rows else lines


def _meaning(option: Any) -> str:
    text = (option.help or "").strip()
    if option.param_type_name == "option" and option.default not in (None, False, (), [], "") and not option.is_flag:
        default = getattr(option.default, "value", option.default)
        text += f" Default: `{default}`." if isinstance(default, (str, int, float)) else ""
    if option.envvar and option.show_envvar:
        names = [option.envvar] if isinstance(option.envvar, str) else option.envvar
        text += f" Or the variable {', '.join(f'`{name}`' for name in names)}."
    if getattr(option, "multiple", False):
        text += " May be repeated."
    return f"{text} Required.".strip() if option.required and option.param_type_name == "option" else text


def _card_page() -> str:
    schema = json.loads((HERE / "scorecard.schema.json").read_text("utf-8"))
    lines = [
        "# Score card", "",
        "The document behind every card, report and export, as `m3bench runs show RUN --json` prints it; how it is used"
        " is in [Reports](../reports.md#the-score-card-as-data). Generated from"
        " [scorecard.schema.json](../scorecard.schema.json).",
    ]  # fmt: skip
    return "\n".join([*lines, *_parts(schema, "The card", {})]) + "\n"


def _formats_page() -> str:
    lines = [
        "# Files", "",
        "What the files hold that people write or read. Unknown names are an error. Generated from the code that reads"
        " them; files of other programs are in [Files, bundles and Harbor](../interchange.md).",
    ]  # fmt: skip
    for heading, (file, module, name, more) in FORMATS.items():
        found = import_module(module)
        model: type[BaseModel] = getattr(found, name)
        told: dict[tuple[str, str], str] = {}
        for source in (found, *map(import_module, more)):
            told |= _docstrings(source)
        lines += _parts(model.model_json_schema(by_alias=True), f"{heading}: {file}", told)
    return "\n".join(lines) + "\n"


def _parts(schema: dict[str, Any], heading: str, told: dict[tuple[str, str], str]) -> list[str]:
    """A table for the document and for each part that it refers to, in the order in which they come up."""
    defined, lines, waiting, done = schema.get("$defs", {}), ["", f"## {heading}"], [(schema, "")], set[str]()
    while waiting:
        part, name = waiting.pop(0)
        if name:
            lines += ["", f"### {name}"]
        if "properties" not in part:
            continue
        lines += ["", _prose(part.get("description", "")), "", "| name | type | meaning |", "|---|---|---|"]
        required = part.get("required", [])
        for key, one in part["properties"].items():
            own = told.get((part["title"], key)) or told.get((part["title"], f"{key}_"), "")
            for inner in () if key in ELSEWHERE and told else _references(one):
                if inner not in done and "properties" in defined[inner]:
                    done.add(inner)
                    waiting.append((defined[inner], inner))
            optional = " (optional)" if "default" in one and key not in required else ""
            text = ELSEWHERE[key] if told and key in ELSEWHERE else one.get("description") or own
            lines.append(f"| `{key}`{optional} | {_cell(_type(one, defined))} | {_cell(text)} |")
    return lines


def _references(one: Any) -> list[str]:
    if isinstance(one, dict):
        own = [one["$ref"].rpartition("/")[2]] if "$ref" in one else []
        return own + [name for key, value in one.items() if key != "discriminator" for name in _references(value)]
    return [name for value in one for name in _references(value)] if isinstance(one, list) else []


def _type(one: dict[str, Any], defined: dict[str, Any]) -> str:
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return name if "properties" in defined[name] else _type(defined[name], defined)
    for choice in ("anyOf", "oneOf"):
        if choice in one:
            return _one_of([_type(part, defined) for part in one[choice]])
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    if "enum" in one:
        return _one_of([f"`{json.dumps(value)}`" for value in one["enum"]])
    if "prefixItems" in one:
        return f"[{', '.join(_type(part, defined) for part in one['prefixItems'])}]"
    if one.get("type") == "array":
        return f"list of {_type(one.get('items', {}), defined)}"
    if one.get("type") == "object":
        inner = one.get("additionalProperties")
        return f"object of {_type(inner, defined)}" if isinstance(inner, dict) else "object"
    return str(one.get("type", "anything"))


def _one_of(types: list[str]) -> str:
    distinct = list(dict.fromkeys(types))
    return " or ".join(distinct) if len(distinct) < 9 else "one of several types"


def _docstrings(module: Any) -> dict[tuple[str, str], str]:
    """What stands below each field of a module's classes, by class and field."""
    found = {}
    for part in ast.parse(inspect.getsource(module)).body:
        if isinstance(part, ast.ClassDef):
            for field, below in pairwise(part.body):
                match field, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[part.name, name] = inspect.cleandoc(text)
    return found


def _prose(text: str) -> str:
    """Help as Markdown: paragraphs that keep their lines are examples."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        f"```text\n{part.lstrip(chr(8)).strip()}\n```" if part.startswith("\b") else part.replace("<", "&lt;")
        for part in parts
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    if sys.argv[1] == "--seeds":
        (HERE / "seeds.md").write_text(seeds_page(), "utf-8")
    else:
        for name, text in pages().items():
            (Path(sys.argv[1]) / name).write_text(text, "utf-8")
