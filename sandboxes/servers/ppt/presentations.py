"""Tools for whole presentations: create, open, save, describe, switch.

A new deck becomes the current one. Files are saved under ./media only and never over another file; a path that
names ./media itself is taken as it stands.
"""

from pathlib import Path, PurePosixPath

from pptx.presentation import Presentation

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.decks import blank, load
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, reworded, server, tool
from m3bench.sandboxes.workspace import Workspace

OUTPUT = "media"
"""The folder presentations are saved in."""

TEMPLATE_FOLDERS = (".", "./templates", "./assets", "./resources")
MAX_PROPERTY = 255
"""Characters of a document property, as the format has it."""


@tool
def create_presentation(context: Context, id: str | None = None) -> dict[str, object]:
    deck = decks.add(context, id, blank())
    return {
        "presentation_id": deck.id,
        "message": f"Created new presentation with ID: {deck.id}",
        "slide_count": len(deck.presentation.slides),
    }


@tool
def create_presentation_from_template(context: Context, template_path: str, id: str | None = None) -> dict[str, object]:
    path = _find_template(context.workspace, template_path)
    with reworded("Failed to create presentation from template"):
        presentation = _load(context.workspace, path)
    deck = decks.add(context, id, presentation)
    return {
        "presentation_id": deck.id,
        "message": f"Created new presentation from template '{path}' with ID: {deck.id}",
        "template_path": path,
        "slide_count": len(presentation.slides),
        "layout_count": len(presentation.slide_layouts),
    }


@tool
def open_presentation(context: Context, file_path: str, id: str | None = None) -> dict[str, object]:
    if not context.workspace.resolve(file_path).exists():
        raise failure(f"File not found: {file_path}")
    with reworded("Failed to open presentation"):
        presentation = _load(context.workspace, file_path)
    deck = decks.add(context, id, presentation)
    return {
        "presentation_id": deck.id,
        "message": f"Opened presentation from {file_path} with ID: {deck.id}",
        "slide_count": len(presentation.slides),
    }


@tool
def save_presentation(context: Context, file_path: str, presentation_id: str | None = None) -> dict[str, object]:
    content = decks.content(context, presentation_id)
    workspace = context.workspace
    with reworded("Failed to save presentation"):
        target = _target(workspace, file_path)
        with workspace.writing(str(target)) as draft:
            draft.write_bytes(content)
    saved = workspace.show(target)
    return {
        "message": f"Presentation saved to {saved}",
        "file_path": saved,
        "abs_path": saved,
        "uri": f"file://{saved}",
    }


@tool
def get_presentation_info(context: Context, presentation_id: str | None = None) -> dict[str, object]:
    deck = decks.reading(context, presentation_id)
    return {
        **_summary(deck.presentation),
        "slide_width": deck.presentation.slide_width,
        "slide_height": deck.presentation.slide_height,
        "presentation_id": deck.id,
    }


@tool
def get_template_file_info(context: Context, template_path: str) -> dict[str, object]:
    path = _find_template(context.workspace, template_path)
    with reworded("Failed to get template info"):
        presentation = _load(context.workspace, path)
    return {
        "template_path": path,
        "file_size_bytes": context.workspace.existing(path).stat().st_size,
        **_summary(presentation),
    }


@tool
def set_core_properties(
    context: Context,
    title: str | None = None,
    subject: str | None = None,
    author: str | None = None,
    keywords: str | None = None,
    comments: str | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    given = {"title": title, "subject": subject, "author": author, "keywords": keywords, "comments": comments}
    with decks.editing(context, presentation_id) as deck:
        for name, value in given.items():
            if value is not None:
                if len(value) > MAX_PROPERTY:
                    raise refusal(name, f"must have at most {MAX_PROPERTY} characters, not {len(value)}")
                setattr(deck.presentation.core_properties, name, value)
    return {"message": "Core properties updated successfully"}


@tool
def list_presentations(context: Context) -> dict[str, object]:
    current = decks.current(context)
    entries = [
        {
            "id": id,
            "slide_count": len(decks.reading(context, id).presentation.slides),
            "is_current": id == current,
        }
        for id in decks.ids(context)
    ]
    return {"presentations": entries, "current_presentation_id": current, "total_presentations": len(entries)}


@tool
def switch_presentation(context: Context, presentation_id: str) -> dict[str, object]:
    previous = decks.switch(context, presentation_id)
    return {
        "message": f"Switched from presentation '{previous}' to '{presentation_id}'",
        "previous_presentation_id": previous,
        "current_presentation_id": presentation_id,
    }


@tool
def get_server_info(context: Context) -> dict[str, object]:
    return {
        "name": "PowerPoint MCP Server",
        "version": "2.1.0",
        "total_tools": len(server.handlers),
        "loaded_presentations": len(decks.ids(context)),
        "current_presentation": decks.current(context),
        "features": [
            "Presentations: create, open, save, switch",
            "Slides: text, bullets, pictures, tables, charts, shapes, connectors, links",
            "Design: colour schemes, backgrounds, picture effects, transitions",
        ],
        "improvements": [
            "Open decks survive a restart of the server",
            "A new deck is the current one",
            "The same calls give the same file, byte for byte",
        ],
        "new_enhanced_features": [
            "23 slide templates in 8 colour schemes",
            "Texts that are fitted to their boxes",
            "Font files: analysis and subsets",
        ],
    }


def _summary(presentation: Presentation) -> dict[str, object]:
    core = presentation.core_properties
    return {
        "slide_count": len(presentation.slides),
        "layout_count": len(presentation.slide_layouts),
        "slide_layouts": [
            {"index": index, "name": layout.name, "placeholder_count": len(layout.placeholders)}
            for index, layout in enumerate(presentation.slide_layouts)
        ],
        "core_properties": {
            "title": core.title,
            "subject": core.subject,
            "author": core.author,
            "keywords": core.keywords,
            "comments": core.comments,
            "category": core.category,
            "created": str(core.created.replace(tzinfo=None)) if core.created else None,
            "modified": str(core.modified.replace(tzinfo=None)) if core.modified else None,
            "last_modified_by": core.last_modified_by,
        },
    }


def _load(workspace: Workspace, path: str) -> Presentation:
    return load(workspace.existing(path), workspace.limits)


def _find_template(workspace: Workspace, path: str) -> str:
    """The path itself, or that of a file of this name in one of the template folders."""
    if workspace.resolve(path).is_file():
        return path
    name = PurePosixPath(path).name
    for folder in TEMPLATE_FOLDERS:
        candidate = f"{folder}/{name}"
        if name and workspace.resolve(candidate).is_file():
            return candidate
    raise failure(f"Template file not found: {path}. Searched in {', '.join(TEMPLATE_FOLDERS)}")


def _target(workspace: Workspace, path: str) -> Path:
    """A free place under the output folder for a file of that name."""
    if not path.strip():
        raise refusal("file_path", "is empty: give a name such as report.pptx")
    pure = PurePosixPath(path)
    if pure.name in ("", ".."):
        raise refusal("file_path", "names a folder: give a file name such as report.pptx")
    if not pure.is_absolute():
        parts = pure.parts[1:] if pure.parts[:1] == (OUTPUT,) else pure.parts
        pure = PurePosixPath(OUTPUT, *parts)
    if pure.suffix == "":
        pure = pure.with_name(f"{pure.name}.pptx")
    if pure.suffix.lower() != ".pptx":
        raise refusal("file_path", f"must end in .pptx, not {pure.suffix!r}")
    real = workspace.resolve(str(pure))
    if workspace.resolve(OUTPUT) not in real.parents:
        raise failure(
            f"Saving outside enforced output directory is not allowed: {path}. Use a path such as ./media/report.pptx",
            outcome="invalid_arguments",
        )
    count = 0
    free = real
    while free.exists() or free.is_symlink():
        count += 1
        free = real.with_name(f"{real.stem}-{count}{real.suffix}")
    return free
