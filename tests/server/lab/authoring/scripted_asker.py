"""An asker whose model says what a test wrote down."""

import pytest

from m3bench.server.lab.authoring.curation import model as models
from m3bench.server.lab.authoring.curation.model import Asker


def asker(monkeypatch: pytest.MonkeyPatch, *replies: str) -> tuple[Asker, list[str]]:
    """An asker whose model gives these replies, and everything the model was sent."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    sent: list[str] = []
    outputs = [ModelOutput.from_content("mock", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage()  # without it the mock counts tokens, with a table from the network
    mock = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    generate = mock.generate

    async def watched(messages, **options):
        sent.extend(message.text for message in messages)
        return await generate(messages, **options)

    monkeypatch.setattr(mock, "generate", watched)
    monkeypatch.setattr(models, "_open", lambda name: mock)
    return Asker("mockllm/model"), sent
