"""The published JSON Schema of a score card, `docs/scorecard.schema.json`.

`python -m m3bench.server.scorecard.schema > docs/scorecard.schema.json` writes it again after the model has changed.
The docstrings of the fields become descriptions here, so that servers need not read them at every start.
"""

import ast
import inspect
import json
from itertools import pairwise

from m3bench.server.scorecard import model

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text() -> str:
    """The schema as the file holds it."""
    schema = model.ScoreCard.model_json_schema(by_alias=True)
    parts = {**schema["$defs"], model.ScoreCard.__name__: schema}
    for (part, field), text in _docstrings().items():
        properties = parts[part]["properties"] if part in parts else {}
        properties.get(field.rstrip("_"), {})["description"] = text
    head = {"$schema": DIALECT, "title": "m3bench score card"}
    return f"{json.dumps({**schema, **head}, indent=1, sort_keys=True, ensure_ascii=False)}\n"


def _docstrings() -> dict[tuple[str, str], str]:
    """What stands below each field of the model, by class and field."""
    found = {}
    for part in ast.parse(inspect.getsource(model)).body:
        if not isinstance(part, ast.ClassDef):
            continue
        for field, below in pairwise(part.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[part.name, name] = inspect.cleandoc(text)
    return found


if __name__ == "__main__":
    print(schema_text(), end="")
