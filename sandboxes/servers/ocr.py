"""The `ocr` server: the text in a picture, read by Tesseract.

Every failure is an error with a message that says what is wrong; the public server's own error texts are broken.
Pictures are prepared before they are read (`m3bench.sandboxes.ocr`); the options of a call apply as given. There is
no network, so URLs are refused; base64 data is accepted, as on the public server.
"""

import binascii
import re
import shlex
from base64 import b64decode
from functools import partial

from PIL import Image

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.ocr import OcrEngine, engine_of, text_in
from m3bench.sandboxes.pictures import decode_picture, open_picture
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import LimitError, PathError, ToolError

server = ToolServer("ocr")

_NUMBERS = {"--oem": range(4), "--psm": range(14)}
_VARIABLES = frozenset(
    [
        "load_freq_dawg",
        "load_system_dawg",
        "preserve_interword_spaces",
        "tessedit_char_blacklist",
        "tessedit_char_whitelist",
        "tessedit_do_invert",
        "textord_heavy_nr",
        "thresholding_method",
        "user_defined_dpi",
    ]
)
"""Variables that may be set with `-c`. Others read or write files or change the kind of output."""
_MAX_CONFIG = 1000
_LONGEST_PATH = 1024
_STARTS = ("iVBORw0KGgo", "/9j/", "UklGR", "R0lGOD", "Qk", "SUkq", "TU0A")
"""How the base64 of a PNG, JPEG, WebP, GIF, BMP or TIFF file begins."""
_DATA_URL = re.compile(r"data:[\w.+/-]*(;[\w=.-]+)*;base64,", re.ASCII)


@server.tool
async def perform_ocr(context: Context, input_data: str, language: str = "eng", config: str = "--oem 3 --psm 6") -> str:
    options = read_options(config)
    await _check_language(await engine_of(context), language)
    text = await text_in(context, partial(_picture, context.workspace, input_data), language, options)
    if not text:
        raise ToolError("No text detected in image")
    return text


@server.tool
async def get_supported_languages(context: Context) -> list[str]:
    return await (await engine_of(context)).languages()


def read_options(config: str) -> list[str]:
    """The Tesseract options in a `config` argument; raises `ToolError` for any but `--oem`, `--psm` and `-c`."""
    if len(config) > _MAX_CONFIG:
        raise LimitError(f"config has {len(config)} characters, more than the {_MAX_CONFIG} allowed")
    try:
        words = shlex.split(config)
    except ValueError as error:
        raise _bad_config(f"config {config!r} cannot be parted into options: {error}") from error
    options: list[str] = []
    # `--psm=6` is understood like `--psm 6`, since callers write both.
    queue = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    while queue:
        name = queue.pop(0)
        if name not in (*_NUMBERS, "-c"):
            raise _bad_config(f"config has {name!r}, which is not allowed")
        if not queue:
            raise _bad_config(f"config ends after {name}, which needs a value")
        value = queue.pop(0)
        if name == "-c":
            _check_variable(value)
        elif not (value.isascii() and value.isdigit() and int(value) in _NUMBERS[name]):
            raise _bad_config(f"config has {name} {value!r} (expected a number from 0 to {_NUMBERS[name][-1]})")
        options += [name, value]
    return options


def _check_variable(setting: str) -> None:
    name, equals, value = setting.partition("=")
    if not equals or any(ord(char) < 32 for char in value):
        raise _bad_config(f"config has -c {setting!r} (expected -c name=value)")
    if name not in _VARIABLES:
        raise _bad_config(f"config sets {name!r} with -c, which is not allowed ({', '.join(sorted(_VARIABLES))} are)")


def _bad_config(problem: str) -> ToolError:
    return ToolError(f"{problem}: use --oem, --psm and -c only, such as '--oem 3 --psm 6'", outcome="invalid_arguments")


async def _check_language(engine: OcrEngine, language: str) -> None:
    installed = await engine.languages()
    for code in language.split("+"):
        if code not in installed:
            raise ToolError(
                f"Unsupported language: {code!r}. Installed are {', '.join(installed)}; join several with +",
                outcome="invalid_arguments",
            )


def _picture(workspace: Workspace, given: str) -> Image.Image:
    """The picture an argument means: a file of the workspace, or base64 data with or without a `data:` prefix."""
    if given[:8].lower().startswith(("http://", "https://")):
        raise ToolError(
            f"{given[:200]!r} cannot be fetched: there is no network here. Give the path of a picture in the workspace",
            outcome="invalid_arguments",
        )
    prefix = _DATA_URL.match(given[:200])
    if prefix is None and len(given) <= _LONGEST_PATH:
        try:
            return open_picture(workspace, given)
        except PathError:
            if not given.startswith(_STARTS):
                raise
    encoded = given[prefix.end() :] if prefix else given
    return decode_picture(_decoded(encoded, workspace.limits.file_bytes), workspace.limits, "the base64 data")


def _decoded(text: str, most: int) -> bytes:
    if len(text) > most * 4 // 3 + 4:
        raise LimitError(f"the data has more than the {most} bytes allowed for a file")
    try:
        return b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(
            f"Invalid input: {text[:40]!r}… is neither the path of a file nor base64 data", outcome="invalid_arguments"
        ) from error
