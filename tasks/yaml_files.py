"""Reads YAML that people write."""

from pathlib import Path
from typing import Any

from m3bench.tasks.errors import InputFileError


def read_yaml(path: Path, what: str) -> Any:
    """What a file says.

    Args:
        path: The file.
        what: What it should be, for whoever named another one.

    Raises:
        InputFileError: It cannot be read, or is not YAML.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe").load(path.read_text("utf-8"))
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror}); {what} is expected here") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise InputFileError(path, f"is not YAML: {' '.join(str(error).split())[:200]}") from error
