"""Rewords questions with a model, more loosely than a template can. Each result is checked like any question."""

import re
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from m3bench.server.lab.authoring.curation.model import Asker

_TASK = (
    "You reword questions that people ask an assistant. Keep who asks, everything that is asked for, every condition"
    " and every number that is stated, keep that the things themselves stand on a card in a picture and do not name"
    " them, name no software, website, service or tool, and do not say how the answer could be found. Write as that"
    " person would in a hurry or in a chat. Give three different versions."
)


class Rewording(Protocol):
    """Says a question in other words."""

    async def phrasings(self, question: str) -> list[str]:
        """Other ways to ask the same, best first; none when there are none."""
        ...


class RewordReply(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid")

    questions: list[str]


class ModelRewording:
    """A model rewords.

    Args:
        asker: Asks the model.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def phrasings(self, question: str) -> list[str]:
        """What the model proposes, without what lost a stated number or is no question at all."""
        reply = await self._asker.ask(_TASK, question, RewordReply)
        if reply is None:
            return []
        stated = set(re.findall(r"\d+", question))
        return [
            text.strip()
            for text in reply.questions
            if 20 <= len(text.strip()) <= 1200 and stated <= set(re.findall(r"\d+", text)) and text.isprintable()
        ]
