"""A judge and what it makes of replies, refusals, silence and errors. The model is Inspect's mock."""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)

from m3bench.server.lab.judges.judge import TRIES, Judge, opened
from m3bench.server.lab.judges.judgements import JudgeUsage, Vote
from m3bench.server.lab.judges.material import JudgeMaterial, ShownPicture
from m3bench.server.lab.judges.prompts import Prompt, prompt
from m3bench.server.lab.judges.questions import COMPLETION, CRITERIA, GROUNDING, JudgeQuestion, rubric
from tests.sets import PICTURE

MATERIAL = JudgeMaterial(
    question="How much is it?", wording="Add.", calls=(), made=0, answer="3",
    pictures=(ShownPicture(name="note.png", data=PICTURE),),
)  # fmt: skip

# Inspect calls tenacity in a way that tenacity would rather not be called.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

Heard = list[tuple[list[ChatMessage], Any, GenerateConfig]]


def output(text: str, stop: str = "stop", refusal: bool | None = None) -> ModelOutput:
    """A reply that took 100 tokens in and 10 out."""
    message = ChatMessageAssistant(content=[ContentText(text=text, refusal=refusal)] if refusal else text)
    choice = ChatCompletionChoice(message=message, stop_reason=stop)  # type: ignore[arg-type]
    return ModelOutput(
        model="mock", choices=[choice], usage=ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    )


def judge_saying(replies: Iterator[ModelOutput | Exception], heard: Heard | None = None) -> Judge:
    def say(messages: list[ChatMessage], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        if heard is not None:
            heard.append((list(messages), tools, config))
        reply = next(replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Judge(name="mock", model=get_model("mockllm/judge", custom_outputs=say), seconds=30)


def vote(*replies: ModelOutput | Exception | str, ask: JudgeQuestion = COMPLETION, heard: Heard | None = None) -> Vote:
    given = (output(reply) if isinstance(reply, str) else reply for reply in replies)
    judge = judge_saying(iter(list(given)), heard)
    return anyio.run(judge.vote, ask, made(ask))


def made(ask: JudgeQuestion) -> Prompt:
    return prompt(ask, MATERIAL, "run")


def test_a_vote_holds_score_reason_and_the_reply_as_it_came() -> None:
    reply = '{"reason": "Nearly.", "score": 8}'
    found = vote(reply)
    assert (found.scores, found.reasons, found.missing) == ({"score": 8}, {"score": "Nearly."}, "")
    assert [(one.reply, one.problem, one.stop) for one in found.tries] == [(reply, "", "stop")]
    assert found.usage == JudgeUsage(input_tokens=100, output_tokens=10)
    assert found.prompt == made(COMPLETION).hash


def test_a_judge_gets_pictures_and_a_schema_and_neither_tools_nor_warmth() -> None:
    heard: Heard = []
    vote('{"reason": "", "score": 8}', heard=heard)
    ((messages, tools, config),) = heard
    assert tools == []
    assert config.temperature == 0
    assert config.response_schema is not None
    assert config.response_schema.json_schema.model_dump(exclude_none=True) == COMPLETION.schema
    assert [message.role for message in messages] == ["system", "user"]
    content = messages[1].content
    assert not isinstance(content, str)
    assert [part.type for part in content] == ["image", "text"]
    assert messages[1].text == made(COMPLETION).user


def test_a_reply_that_cannot_be_read_is_corrected_and_asked_for_again() -> None:
    heard: Heard = []
    found = vote("I'd say 8.", '{"score": "eight"}', '```\n{"score": "8"}\n```', heard=heard)
    assert found.scores == {"score": 8}
    assert [one.problem for one in found.tries] == [
        "there is no JSON object in it", "the score is not a number", "",
    ]  # fmt: skip
    last = heard[-1][0]
    assert [message.role for message in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert last[2].text == "I'd say 8."
    assert "there is no JSON object in it" in last[3].text
    assert COMPLETION.form in last[3].text
    assert found.usage == JudgeUsage(input_tokens=300, output_tokens=30)


def test_after_three_tries_the_vote_is_missing() -> None:
    found = vote(*["Sorry, I cannot rate this."] * (TRIES + 2))
    assert found.scores is None
    assert found.missing == "no usable reply in 3 tries: there is no JSON object in it"
    assert len(found.tries) == TRIES


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"score": 11, "reason": ""}', "off the scale: score is 11, and the scale goes from 0 to 10"),
        (output("No.", refusal=True), "the model refused"),
        (output("", stop="content_filter"), "the model refused"),
        (ModelOutput(model="mock", usage=ModelUsage()), "an empty output"),
        (ModelOutput(model="mock", error="overloaded\x1b[2J", usage=ModelUsage()), "an error: overloaded\\x1b[2J"),
        (RuntimeError("the provider\nfell over"), "the provider fell over"),
    ],
    ids=["off the scale", "refusal", "filtered", "empty", "error", "exception"],
)
def test_what_is_no_vote_is_missing_at_once_and_says_why(reply: ModelOutput | Exception | str, why: str) -> None:
    found = vote(reply, '{"score": 5, "reason": "never asked for"}')
    assert (found.scores, found.missing, len(found.tries)) == (None, why, 1)


def test_silence_is_a_missing_vote() -> None:
    async def silent(*_: object) -> ModelOutput:
        await anyio.sleep_forever()
        raise AssertionError

    model = get_model("mockllm/judge", custom_outputs=silent)
    found = anyio.run(Judge(name="mock", model=model, seconds=0.05).vote, COMPLETION, made(COMPLETION))
    assert (found.scores, found.missing) == (None, "no answer within 0.05 s")
    assert [one.reply for one in found.tries] == [None]


def test_an_endpoint_without_schemas_is_asked_without_one() -> None:
    heard: Heard = []
    problem = RuntimeError("400: Unknown field response_format")
    found = vote(problem, output('{"score": 4}'), heard=heard)
    assert found.scores == {"score": 4}
    assert [config.response_schema is None for _, _, config in heard] == [False, True]


def test_a_rubric_is_read_whatever_its_order() -> None:
    ask = rubric(tuple(CRITERIA)[::-1], 3)
    found = vote(json.dumps({name: {"reason": "", "score": 6} for name in CRITERIA}), ask=ask)
    assert found.scores == dict.fromkeys(CRITERIA, 6)
    assert (found.ask, found.shuffle) == ("rubric", 3)


def test_a_reply_in_halves_of_characters_can_be_kept() -> None:
    found = vote('{"score": 1, "reason": "\\ud800"} \ud800')
    assert json.dumps(found.model_dump(mode="json"), ensure_ascii=False).encode()
    assert found.scores == {"score": 1}


@pytest.mark.parametrize(
    ("name", "says"),
    [("nobody/model", "not recognized"), ("openai-api/keyless/model", "KEYLESS_API_KEY"), ("plain", "format")],
)
def test_a_judge_that_cannot_be_opened_says_why_and_stops_nobody(
    name: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KEYLESS_API_KEY", raising=False)

    async def main() -> tuple[Vote, bool]:
        async with opened([name, "mockllm/there"], text_only=frozenset({name}), seconds=1) as judges:
            assert [judge.sighted for judge in judges] == [False, True]
            return await judges[0].vote(GROUNDING, made(GROUNDING)), judges[1].model is not None

    found, other = anyio.run(main)
    assert found.scores is None
    assert found.missing.startswith("it cannot be opened: ")
    assert says in found.missing
    assert "[bold]" not in found.missing
    assert other
