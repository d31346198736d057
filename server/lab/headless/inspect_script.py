"""A model that plays a script: `--model m3bench/FILE.json`. It asks nobody, and is for dry runs and tests.

    {"tasks": {"survey-1": [TURN, TURN, …], "*": [TURN, …]}}

The turns of a task are played in order, one for each time the model is asked; `*` stands for every task that is not
named. A turn has any of `text`, what the model says; `calls`, a list of `{"tool", "arguments"}`, where arguments that
are a string are what a provider would send letter by letter, broken JSON included; `pause`, seconds it thinks;
`input_tokens` and `output_tokens`, what it costs; and `error`, a failure of the provider: a message, or the `status`
and `body` of its answer. A failure with status 429, or 500 and above, comes again at every further try. After the last
turn the model says nothing more.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from pydantic import BaseModel, ConfigDict, ValidationError

from m3bench.server.lab.headless.inspect_listen import HEARD
from m3bench.tasks.errors import InputFileError

PROVIDER = "m3bench"

_TASK = re.compile(r"^# Task (\S+)$", re.MULTILINE)


class ScriptedError(Exception):
    """The failure of a provider that a script asks for, as clients of providers report one."""

    def __init__(self, error: "ScriptError | str") -> None:
        self.status_code = error.status if isinstance(error, ScriptError) else None
        self.body = error.body if isinstance(error, ScriptError) else None
        super().__init__(error if isinstance(error, str) else f"Error code: {error.status}")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptCall(_Strict):
    """A call the model makes."""

    tool: str
    arguments: dict[str, Any] | str = {}


class ScriptError(_Strict):
    """An answer of the provider that is an error."""

    status: int
    body: Any = None


class ScriptTurn(_Strict):
    """What the model does when it is asked."""

    text: str = ""
    calls: tuple[ScriptCall, ...] = ()
    pause: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: str | ScriptError | None = None


class ModelScript(_Strict):
    """What the model does in each task."""

    tasks: dict[str, tuple[ScriptTurn, ...]]


def read_script(path: Path) -> ModelScript:
    """Read a script.

    Raises:
        InputFileError: The file cannot be read, or is no script.
    """
    try:
        return ModelScript.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror}); a model's script is expected here") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"])) or None) from error


class ScriptModel(ModelAPI):
    """Plays a script.

    Args:
        model_name: The script's file.
        base_url: Not used.
        api_key: Not used.
        config: Not used.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self._script = read_script(Path(model_name))

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> tuple[ModelOutput | Exception, ModelCall]:
        """Play the next turn of the task that the conversation is about."""
        turns = self._turns(input)
        heard = HEARD.get()
        # Not every solver shows a model what it said before.
        place = sum(isinstance(message, ChatMessageAssistant) for message in input) if heard is None else heard.replies
        turn = turns[place] if place < len(turns) else ScriptTurn()
        await anyio.sleep(turn.pause)
        if turn.error is not None:
            raise ScriptedError(turn.error)
        calls = [_call(place, number, call) for number, call in enumerate(turn.calls, 1)]
        message = ChatMessageAssistant(content=turn.text, tool_calls=calls or None, model=self.model_name)
        output = ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else "stop")],
            usage=_usage(turn, input),
        )
        sent = [
            {"id": made.id, "function": {"name": call.tool, "arguments": call.arguments}}
            for made, call in zip(calls, turn.calls, strict=True)
        ]
        return output, ModelCall.create({}, {"choices": [{"message": {"content": turn.text, "tool_calls": sent}}]})

    def should_retry(self, ex: Exception) -> bool:
        """As real providers: when there are too many requests, or the fault is theirs."""
        status = ex.status_code if isinstance(ex, ScriptedError) else None
        return status is not None and (status == 429 or status >= 500)

    def _turns(self, input: Sequence[ChatMessage]) -> tuple[ScriptTurn, ...]:
        texts = (message.text for message in input if isinstance(message, ChatMessageUser))
        found = next((match for match in map(_TASK.search, texts) if match), None)
        tasks = self._script.tasks
        return tasks.get(found[1] if found else "*", tasks.get("*", ()))


def _call(place: int, number: int, call: ScriptCall) -> ToolCall:
    id = f"call-{place}-{number}"
    if isinstance(call.arguments, str):
        # Inspect makes something of most of what is broken.
        return ToolCall(id=id, function=call.tool, arguments={"repaired": call.arguments})
    return ToolCall(id=id, function=call.tool, arguments=call.arguments)


def _usage(turn: ScriptTurn, input: Sequence[ChatMessage]) -> ModelUsage:
    """As the turn says, else a token for every four characters."""
    read = turn.input_tokens if turn.input_tokens is not None else sum(len(message.text) for message in input) // 4
    written = turn.output_tokens if turn.output_tokens is not None else len(turn.model_dump_json()) // 4
    return ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
