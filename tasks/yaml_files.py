"""Reads YAML that people write."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import InputFileError

AnyModel = TypeVar("AnyModel", bound=BaseModel)


def read_yaml(path: Path, model: type[AnyModel], parts: Iterable[type[BaseModel]], *, what: str, word: str) -> AnyModel:
    """What a file says.

    Args:
        path: The file.
        model: What its content must be.
        parts: The models of its parts, whose fields a misspelt name is held against.
        what: What the file should be, for whoever named another one.
        word: What one of its fields is called.

    Raises:
        InputFileError: It cannot be read, is not YAML, or says something that makes no sense.
    """
    data = _read(path, what)
    try:
        return model.model_validate(data if data is not None else {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            models: list[type[BaseModel]] = [model, *parts]
            known = {field for model in models for field in model.model_fields}
            said = f"There is no such {word}.{did_you_mean(str(first['loc'][-1]), known)}"
        raise InputFileError(path, said, field=".".join(map(str, first["loc"])) or None) from error


def _read(path: Path, what: str) -> object:
    try:
        return YAML(typ="safe").load(path.read_text("utf-8"))
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror}); {what} is expected here") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise InputFileError(path, f"is not YAML: {' '.join(str(error).split())[:200]}") from error
