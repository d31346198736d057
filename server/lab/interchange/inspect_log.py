"""Runs as an Inspect eval log, which `inspect view` and everything that reads such logs can open. Needs the extra
`agents`; `inspect_samples` makes the log.
"""

from collections.abc import Sequence
from pathlib import Path

from m3bench.server.lab.interchange.episode import Episode
from m3bench.tasks.errors import InputFileError, UserError


def write_log(stories: Sequence[Episode], path: Path) -> None:
    """Write runs as one log; `.json` in its name makes it JSON, anything else Inspect's packed form.

    Raises:
        UserError: Inspect is not installed, or there are no runs.
        InputFileError: The file cannot be written.
    """
    try:
        # Inspect is optional, and takes a second to import.
        from m3bench.server.lab.interchange.inspect_samples import write_eval
    except ImportError:
        raise UserError("Inspect logs need Inspect: pip install 'm3bench[agents]'") from None
    if not stories:
        raise UserError("There are no runs to write: `m3bench runs list` shows what there is.")
    packed = path.suffix != ".json"
    draft = path.with_name(f".{path.name}.draft.{'eval' if packed else 'json'}")
    try:
        write_eval(stories, draft, packed=packed)
        draft.replace(path)
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror or error})") from error
    finally:
        draft.unlink(missing_ok=True)
