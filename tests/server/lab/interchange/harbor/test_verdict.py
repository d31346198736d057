"""The verifier of an exported task against a real server: what is worth 1 and 0, and what says nothing."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.harbor.dataset import SEAT
from m3bench.server.lab.interchange.harbor.verdict import BUNDLE, COLLECTED, TrialVerdict, judge
from m3bench.server.scoring import open_encoder
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from tests.server.lab.interchange.harbor.conftest import TASK, Trial, on_trial
from tests.server.lab.interchange.tampering import change_json, packed, run_of, unpacked

ELSEWHERE = "some-other-seat-of-the-agent"
NOTHING = {"reward": 0.0, "solved": 0.0}


@pytest.fixture(scope="module")
def idle(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """A trial in which nothing was done."""
    with on_trial(dataset, tmp_path_factory.mktemp("idle")) as trial:
        yield trial


@pytest.fixture
def forged(solved: Trial, tmp_path: Path) -> Path:
    """What was collected of the solved trial, to be changed."""
    return shutil.copytree(solved.verdict, tmp_path / "verdict")


@pytest.fixture
def judged(harbor_set: Path, forged: Path) -> Callable[[], TrialVerdict]:
    """What the verifier makes of it."""
    return lambda: judge(forged, SEAT, TASK, LocalInstallation(Library(harbor_set)), open_encoder())


@pytest.mark.slow
def test_the_reference_played_through_the_server_is_worth_one(solved: Trial) -> None:
    rewards, _ = solved.reward()
    assert rewards == {"reward": 1, "solved": 1}
    metrics = json.loads((solved.root / "logs/verifier/metrics.json").read_bytes())
    assert {name: metrics[name] for name in ("reward", "recall", "m3_average")} == {
        "reward": 1,
        "recall": 1,
        "m3_average": 1,
    }


@pytest.mark.slow
def test_no_run_and_a_run_on_another_seat_are_worth_nothing(idle: Trial) -> None:
    idle.solve(ELSEWHERE)
    idle.collect()
    assert json.loads((idle.verdict / COLLECTED).read_bytes())["others"] == 1
    assert idle.reward() == (NOTHING, "sum-1: not submitted: the agent did not start the task\n")


@pytest.mark.slow
def test_a_second_attempt_is_refused(solved: Trial) -> None:
    solution = solved.root / "solution"
    url = f"{solved.url}/seat/{SEAT}/mcp"
    again = solved.run("python3", str(solution / "solve.py"), str(solution / "reference.json"), url)
    assert again.returncode == 1
    assert "a ranked task is attempted once" in again.stdout


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("path", ["/", "/live/state", "/live/events"])
def test_the_agent_cannot_see_the_pages_of_the_server(solved: Trial, path: str) -> None:
    assert httpx2.get(f"{solved.url}{path}", timeout=30).status_code in (401, 404)
    run = json.loads((solved.verdict / COLLECTED).read_bytes())["run"]
    assert httpx2.get(f"{solved.url}/live/run/{run}", timeout=30).status_code == 401


def test_what_was_collected_holds(judged: Callable[[], TrialVerdict]) -> None:
    assert (judged().outcome, (judged().numbers or {})["reward"]) == ("scored", 1)


def test_a_score_that_was_changed_is_worth_nothing(forged: Path, judged: Callable[[], TrialVerdict]) -> None:
    members = unpacked(forged / BUNDLE)
    run = run_of(members, TASK)
    change_json(members, f"{run}/card.json", lambda card: card["metrics"].update(average=0.5))
    packed(members, forged / BUNDLE)
    assert (judged().outcome, judged().numbers) == ("refuted", NOTHING)


def test_a_genuine_run_of_another_seat_is_worth_nothing(forged: Path, harbor_set: Path) -> None:
    found = judge(forged, ELSEWHERE, TASK, LocalInstallation(Library(harbor_set)), open_encoder())
    assert (found.outcome, found.numbers) == ("refuted", NOTHING)
    assert found.why == "the run is not the agent's ranked run of this task"


def test_a_run_of_another_task_and_a_file_that_is_no_bundle_are_worth_nothing(
    forged: Path, judged: Callable[[], TrialVerdict]
) -> None:
    (forged / BUNDLE).write_bytes(b"reward: 1")
    assert (judged().outcome, judged().numbers) == ("refuted", NOTHING)
    change(forged, task="survey-1")
    assert judged().why == "the run is of the task 'survey-1'"


def test_a_run_without_an_answer_is_worth_nothing(forged: Path, judged: Callable[[], TrialVerdict]) -> None:
    for state, why in (("working", "the agent did not submit an answer"), ("abandoned", "the agent gave the task up")):
        change(forged, state=state)
        assert (judged().outcome, judged().numbers, judged().why) == ("not submitted", NOTHING, why)


@pytest.mark.slow
def test_a_server_that_failed_says_nothing_of_the_agent(forged: Path, judged: Callable[[], TrialVerdict]) -> None:
    change(forged, state="void", reason="the sandbox broke")
    assert (judged().outcome, judged().numbers, judged().why) == ("void", None, "the sandbox broke")
    change(forged, state="scored")
    (forged / BUNDLE).unlink()
    with pytest.raises(InputFileError, match="is missing, although the run is scored"):
        judged()
    (forged / COLLECTED).unlink()
    with pytest.raises(InputFileError, match="the server was not asked, or failed"):
        judged()


def change(folder: Path, **values: str) -> None:
    said = json.loads((folder / COLLECTED).read_bytes())
    (folder / COLLECTED).write_text(json.dumps({**said, **values}))
