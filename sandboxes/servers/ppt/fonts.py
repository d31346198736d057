"""Font files: what they are, a smaller copy with the characters of a text, and whether they suit a talk."""

from pathlib import PurePosixPath

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt.arguments import choice
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import failure, tool
from m3bench.sandboxes.servers.ppt.sfnt import FontError, FontFile
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import SoftError

WRONG_OPERATION = "Invalid operation: {value}. Must be 'analyze', 'optimize', or 'recommend'"
LATIN = [*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2010, 0x2027), 0x20AC, 0x2122]
"""What a subset keeps when no text is given: Latin-1, typographic quotes and dashes, euro, trade mark."""

ADVICE = {
    "business": {"heading": 32, "body": 20, "partners": ["Calibri", "Arial"], "tone": "sober"},
    "creative": {"heading": 40, "body": 22, "partners": ["Georgia", "Verdana"], "tone": "expressive"},
    "academic": {"heading": 30, "body": 18, "partners": ["Times New Roman", "Cambria"], "tone": "dense but legible"},
}


@tool
def manage_fonts(
    context: Context,
    operation: str,
    font_path: str,
    output_path: str | None = None,
    presentation_type: str = "business",
    text_content: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("analyze", "optimize", "recommend"), WRONG_OPERATION)
    workspace = context.workspace
    if not workspace.resolve(font_path).is_file():
        raise _failed(font_path, f"Font file not found: {font_path}")
    data = workspace.existing(font_path).read_bytes()
    try:
        font = FontFile.parse(data)
        analysis = _analysis(font, font_path, len(data))
        if wanted == "analyze":
            return analysis
        if wanted == "recommend":
            kind = choice("presentation_type", presentation_type, ADVICE)
            return {
                "font_analysis": analysis,
                "presentation_type": kind,
                "recommendations": _recommendations(font, kind),
            }
        target = output_path or _free_name(workspace, font_path)
        smaller = font.subset(LATIN if text_content is None else map(ord, text_content))
    except FontError as error:
        raise _failed(font_path, f"{font_path} cannot be used as a font: {error}") from error
    with workspace.writing(target) as draft:
        draft.write_bytes(smaller)
    return {
        "message": f"Font optimized: {len(data)} to {len(smaller)} bytes",
        "original_path": font_path,
        "optimized_path": target,
    }


def _analysis(font: FontFile, path: str, size: int) -> dict[str, object]:
    return {
        "file_path": path,
        "font_family": font.name(16, 1) or "Unknown",
        "font_style": font.name(17, 2) or "Unknown",
        "num_glyphs": font.glyph_count,
        "file_size": size,
        "analysis_success": True,
    }


def _recommendations(font: FontFile, kind: str) -> dict[str, object]:
    advice = ADVICE[kind]
    cautions = []
    if font.monospaced:
        cautions.append("All characters are equally wide: good for code, tiring in running text")
    if font.weight < 300:
        cautions.append("The strokes are thin: on a projector they fade, use it for large titles only")
    if font.weight > 700:
        cautions.append("The strokes are heavy: use it for titles, not for body text")
    missing = [code for code in range(0x21, 0x7F) if code not in font.characters()]
    if missing:
        cautions.append(f"{len(missing)} of the basic Latin characters are missing")
    return {
        "suitability": "limited" if cautions else "good",
        "cautions": cautions,
        "tone": advice["tone"],
        "suggested_heading_size": advice["heading"],
        "suggested_body_size": advice["body"],
        "pairs_well_with": advice["partners"],
    }


def _free_name(workspace: Workspace, source: str) -> str:
    path = PurePosixPath(source)
    target, count = path.with_name(f"{path.stem}_optimized.ttf"), 0
    while workspace.resolve(str(target)).exists():
        count += 1
        target = path.with_name(f"{path.stem}_optimized-{count}.ttf")
    return str(target)


def _failed(path: str, message: str) -> SoftError:
    return failure(message, file_path=path, analysis_success=False)
