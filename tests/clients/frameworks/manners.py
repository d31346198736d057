"""A model that does what some frameworks ask of theirs, beyond what the protocol does.

Such a framework declares every parameter as required, retells calls as text, and takes no answer but a call of
`final_answer`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from m3bench.server.clients.trial.conversation import Called, Request, Saying

Answer = Callable[[Request], Saying]

RETOLD = "Calling tools:\n"
FINAL = "final_answer"

_NOTHING: Mapping[str, Any] = {"string": "", "object": {}, "array": [], "boolean": False, "integer": 0, "number": 0}
"""What says as little as possible, by type."""


def with_manners(answer: Answer) -> Answer:
    """The same answers in the form that the framework's request asks for."""

    def answered(request: Request) -> Saying:
        saying = answer(replace(request, calls=request.calls or tuple(_retold(request))))
        if saying.text and FINAL in request.tools:
            saying = Saying(calls=(Called(name=FINAL, arguments={"answer": saying.text}),))
        return replace(saying, calls=tuple(_complete(call, request.tools[call.name]) for call in saying.calls))

    return answered


def _retold(request: Request) -> list[Called]:
    """The calls that are told as text: a list as Python writes it."""
    lists = (ast.literal_eval(text.removeprefix(RETOLD)) for text in request.texts if text.startswith(RETOLD))
    functions = [call["function"] for calls in lists for call in calls]
    return [Called(name=function["name"], arguments=function["arguments"]) for function in functions]


def _complete(call: Called, schema: Mapping[str, Any]) -> Called:
    """A call with a value for every parameter that the framework requires: null, its default, or as good as nothing."""
    known = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or () if name not in call.arguments]
    return replace(call, arguments={**call.arguments, **{name: _value(known.get(name) or {}) for name in missing}})


def _value(schema: Mapping[str, Any]) -> Any:
    if {"type": "null"} in (schema.get("anyOf") or ()):
        return None
    return schema.get("default", _NOTHING.get(str(schema.get("type")), ""))
