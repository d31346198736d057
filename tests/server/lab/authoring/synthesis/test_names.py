"""A question that names a service or a tool is found out, however it is spelled."""

import re

import pytest

from m3bench.server.lab.authoring.synthesis.usefulness import forbidden, named
from m3bench.tasks.catalog import load_catalog


def test_every_server_and_every_tool_of_several_words_is_forbidden_in_every_spelling() -> None:
    for tool in load_catalog().ready.tools:
        for name in {tool.name, tool.server, tool.qualified, tool.exposed}:
            if re.search(r"[_-]|[a-z][A-Z]", name):
                assert named(f"Please use {name}, would you?") is not None, name
                spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[_-]+", " ", name))
                assert named(f"Please use {spaced.title()} for it.") is not None or "/" in name, name


@pytest.mark.parametrize(
    "text",
    [
        "Look it up on Wikipedia.", "what does AMAZON charge", "as Google Maps has it", "the weather there",
        "on Yahoo! Finance", "with a calculator, please", "in NASA's list", "The movie database knows.", "see arXiv",
        "the park service's listing", "(TMDB)", "which time zone it is in",
    ],
)  # fmt: skip
def test_what_people_call_a_service_is_found(text: str) -> None:
    assert named(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "How high does the town lie above sea level?", "I search for a sum of money that I met with.",
        "What is the air like around the park?", "Could you find out who made it and when?",
    ],
)  # fmt: skip
def test_ordinary_words_are_allowed(text: str) -> None:
    assert named(text) is None


def test_every_server_has_an_everyday_name() -> None:
    assert forbidden() == tuple(sorted(set(forbidden())))
    assert all(name == name.casefold() for name in forbidden())
