"""The live view's page of all results cuts them by what is known of the tasks."""

import json
import re

from tests.server.lab.live.conftest import Watched
from tests.server.lab.live.players import player


def test_results_are_cut_by_level_role_and_measures_as_in_a_report(fresh: Watched) -> None:
    with player(fresh.url) as one:
        one.play()
    text = fresh.get("/live/results").text
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found is not None
    cuts = json.loads(found[1])["slices"]
    assert {name: part["runs"] for name, part in cuts["level"].items()} == {"L1": 1}
    assert {name: part["runs"] for name, part in cuts["setting"].items()} == {"single": 1}
    assert list(cuts["steps"]) == ["1–2 steps"]
    assert list(cuts["role"]) == ["unknown"]
