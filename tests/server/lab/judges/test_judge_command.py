"""`m3bench judge` as a person types it, with judges behind an endpoint on this machine."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from m3bench.server.cli import main
from m3bench.server.commands.options import RecordOptions
from m3bench.server.commands.runs import delete
from m3bench.server.lab.judges.judgements import read_judgement
from m3bench.server.lab.judges.questions import NAMES
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.store.sqlite import SqliteStore
from tests.server.lab.judges.doubles import Endpoint, endpoint, obedient, texts
from tests.waiting import eventually

# Inspect calls tenacity in a way that tenacity would rather not be called.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

FOUR = "openai-api/local/one,openai-api/local/two,openai-api/local/three,openai-api/local/four"
SCORES = {"one": 1, "two": 4, "three": 8, "four": 10}


def opinionated(body: dict[str, Any]) -> tuple[int, str]:
    """Each model has its own score, on whatever scale."""
    _, user = texts(body)
    score = SCORES[body["model"]]
    part = {"reason": "so I think", "score": score / 10 if "Scores go from 0 to 1;" in user else score}
    schema = body["response_format"]["json_schema"]["schema"]
    return 200, json.dumps(part if "score" in schema["properties"] else dict.fromkeys(schema["properties"], part))


@pytest.fixture
def place() -> Iterator[Endpoint]:
    with endpoint(opinionated) as made:
        yield made


@pytest.fixture
def judged_set(recorded: Path, tmp_path: Path) -> Path:
    """A result set of its own for a test."""
    return shutil.copytree(recorded, tmp_path / "results")


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


class Judge(Protocol):
    def __call__(self, folder: Path, *arguments: str | Path) -> Done: ...


def options(folder: Path) -> list[str]:
    """The tasks and the store of a result set, and four judges."""
    return ["lab", "judge", "--tasks", str(folder / "set"), "--data", str(folder / "data"), "--models", FOUR]


@pytest.fixture
def judge(place: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Judge:
    """Runs the command in this process, which is quicker than a process each; the endpoint is as real."""
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)

    def run(folder: Path, *arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["m3bench", *options(folder), *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code: Any = 0
        except SystemExit as ending:
            code = ending.code
        shown = capsys.readouterr()
        return Done(int(code or 0), shown.out, shown.err)

    return run


def process(place: Endpoint, folder: Path, *arguments: str | Path) -> "subprocess.Popen[str]":
    """Starts the command as a process."""
    command = [sys.executable, "-m", "m3bench.server.cli", *options(folder), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **place.env})


def cards(folder: Path) -> list[Any]:
    store = SqliteStore(folder / "data")
    try:
        return [run.scorecard for run in store.runs()]
    finally:
        store.close()


@pytest.mark.slow
def test_four_judges_rate_a_result_set_and_leave_its_score_cards_alone(place: Endpoint, judged_set: Path) -> None:
    before = cards(judged_set)
    done = process(place, judged_set, judged_set, "--json")
    out, errors = done.communicate(timeout=120)
    assert (done.returncode, len(place.requests)) == (0, 2 * 7 * 4), errors
    found = json.loads(out)
    assert [run["task"] for run in found["runs"]] == ["sum-1", "survey-1"]
    first = found["runs"][0]
    assert first["completion"]["value"] == pytest.approx(0.6)
    assert first["grounding"]["value"] == pytest.approx(0.6)
    assert first["rubric"]["value"] == pytest.approx(6)
    assert first["average_grounded"] == pytest.approx((6 + 0.6) / 7)
    assert first["average_published"] is None, "nobody was asked what M³-Bench asks"
    assert first["missing"] == []
    whole = found["overall"]
    assert whole["completion"]["rules"] == {"4 judges: mean of the middle two": 2}
    assert whole["completion"]["alpha"] < 0, "the judges differ more within runs than between them"
    assert whole["average_grounded"]["runs"] == 2
    assert whole["usage"] == {"input_tokens": 5600, "output_tokens": 560, "cost": None}
    assert "survey-1 is judged: 56 of 56 votes, 5,600 tokens in, 560 out" in errors
    assert cards(judged_set) == before
    assert all("judge" not in json.dumps(card) for card in before)


def test_what_goes_over_the_wire_is_cold_bound_to_a_schema_and_without_tools(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    judge(judged_set, "latest", "--what", "completion")
    assert len(place.requests) == 4
    for body in place.requests:
        assert body["temperature"] == 0
        assert "tools" not in body
        assert body["response_format"]["type"] == "json_schema"
        kinds = [part["type"] for part in body["messages"][1]["content"]]
        assert kinds == ["image_url", "text"]
    assert len({texts(body) for body in place.requests}) == 1, "all judges read the same"


def test_every_prompt_and_reply_is_kept(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    done = judge(judged_set, "latest", "--what", "rubric", "--text-only", "openai-api/local/two", "--json")
    (run,) = json.loads(done.stdout)["runs"]
    kept = read_judgement(judged_set / "data", run["run"])
    assert kept is not None
    assert len(kept.votes) == 20
    assert len(kept.prompts) == 10, "five orders, with and without the picture"
    for vote in kept.votes:
        prompt = kept.prompts[vote.prompt]
        assert any(texts(body) == (prompt.system, prompt.user) for body in place.requests)
        assert [picture.name for picture in prompt.pictures] == ([] if vote.model.endswith("two") else ["note.png"])
        assert vote.tries[0].reply is not None
        assert json.loads(vote.tries[0].reply)["parallelism"]["score"] == (vote.scores or {})["parallelism"]


@pytest.mark.slow
def test_a_table_shows_values_agreement_and_how_they_came_about(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    done = judge(judged_set, judged_set, "--parallel", "16")
    assert done.returncode == 0
    for text in ("sum-1", "survey-1", "0.600", "6.00", "average_grounded", "α", "4 judges: mean of the middle two"):
        assert text in done.stdout
    assert "\x1b" not in done.stdout


def test_the_judges_of_m3_bench_are_asked_two_questions_and_give_the_published_average(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    done = judge(judged_set, judged_set, "--mode", "m3-bench", "--json")
    assert len(place.requests) == 2 * 2 * 4
    first, second = json.loads(done.stdout)["runs"]
    assert [sorted(set(run) & set(NAMES)) for run in (first, second)] == [["m3-completion", "m3-grounding"]] * 2
    # The sum is the whole reference: six ones. Four judges say 0.1, 0.4, 0.8 and 1; the middle two count.
    assert first["average_published"] == pytest.approx((6 + 0.6) / 7)
    assert first["average_grounded"] is None
    # Judges are asked side by side, so that requests arrive in any order.
    shown = ["step 1 of 1:" in texts(body)[1] for body in place.requests]
    assert shown.count(True) == 4, "the sum's one step is told to those who judge its grounding"
    assert "average_published 0." in judge(judged_set, judged_set, "--mode", "m3-bench", "--resume").stdout


@pytest.mark.slow
def test_the_judges_of_mcp_bench_give_four_axes_and_how_far_they_vary(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    done = judge(judged_set, judged_set, "--mode", "mcp-bench", "--parallel", "16", "--json")
    assert len(place.requests) == 2 * 5 * 4
    assert all("dependency analysis" in texts(body)[1] for body in place.requests)
    found = json.loads(done.stdout)
    # All calls succeeded; the rubric's four judges say 1, 4, 8 and 10 of 10.
    assert found["runs"][0]["mcp_bench"]["overall"] == pytest.approx((1 + 3 * 0.6) / 4)
    assert found["overall"]["mcp_bench"]["schema_understanding"] == 1
    whole = found["overall"]["mcp-bench.parallelism"]
    deviation = (sum((score - 5.75) ** 2 for score in (1, 4, 8, 10)) / 4) ** 0.5
    assert whole["variation"] == pytest.approx(deviation / 5.75)
    assert whole["order_variation"] == 0
    shown = judge(judged_set, judged_set, "--mode", "mcp-bench", "--resume").stdout
    for text in ("schema understanding", "planning effectiveness", "overall", "0.700", f"{deviation / 5.75:.1%}"):
        assert text in shown


def test_the_judges_of_mcpverse_compare_the_answer_with_the_truth(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    place.answer = lambda body: (200, json.dumps({"reason": "so", "score": int(body["model"] != "one")}))
    handle = next(run.run for run in read_resultset(judged_set).results if run.sample.task == "sum-1").id
    done = judge(judged_set, handle, "--mode", "mcpverse", "--json")
    assert len(place.requests) == 4
    for body in place.requests:
        _, user = texts(body)
        assert "They add up to 108." in user
        assert "result of call" not in user
        assert isinstance(body["messages"][1]["content"], str), "no picture"
    (run,) = json.loads(done.stdout)["runs"]
    assert run["equivalence"]["value"] == 1
    assert run["equivalence"]["judges"]["openai-api/local/one"] == 0


@pytest.mark.slow
def test_a_judge_that_fails_shrinks_the_ensemble_and_is_reported(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    def three(body: dict[str, Any]) -> tuple[int, str]:
        return (401, "no such\x1b[2J key") if body["model"] == "one" else opinionated(body)

    place.answer = three
    done = judge(judged_set, "latest", "--what", "completion,grounding", "--json")
    assert done.returncode == 0
    (run,) = json.loads(done.stdout)["runs"]
    assert run["completion"]["rule"] == "3 judges: median"
    assert run["completion"]["value"] == 0.8
    assert [line["judge"] for line in run["missing"]] == ["openai-api/local/one"] * 2
    assert "no such" in run["missing"][0]["why"]
    assert "\x1b" not in done.stdout + done.stderr
    shown = judge(judged_set, "latest", "--what", "completion")
    assert "Missing: 1 vote of openai-api/local/one: not asked: authentication (401)" in shown.stdout
    assert shown.stdout.count("Missing: ") == 2, "all that is known of the run is shown"


def test_silence_costs_a_vote_and_not_the_session(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    release = threading.Event()

    def slow(body: dict[str, Any]) -> tuple[int, str]:
        if body["model"] == "four":
            release.wait(60)
        return opinionated(body)

    place.answer = slow
    try:
        done = judge(judged_set, "latest", "--what", "grounding", "--timeout", "2", "--json")
    finally:
        release.set()
    (run,) = json.loads(done.stdout)["runs"]
    assert run["missing"] == [
        {"ask": "grounding", "shuffle": None, "judge": "openai-api/local/four", "why": "no answer within 2 s"}
    ]
    assert run["grounding"]["value"] == pytest.approx(0.4)


def test_resuming_asks_only_for_what_is_missing(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    place.answer = lambda body: opinionated(body) if body["model"] != "two" else (200, "no number today")
    judge(judged_set, "latest", "--what", "completion,grounding")
    assert len(place.requests) == 2 * (3 + 3)
    place.answer, place.requests = opinionated, []
    done = judge(judged_set, "latest", "--resume", "--json")
    assert "6 votes already exist; 22 are left to ask for." in done.stderr
    assert len(place.requests) == 22
    (run,) = json.loads(done.stdout)["runs"]
    assert run["missing"] == []
    assert run["completion"]["value"] == pytest.approx(0.6)
    place.requests = []
    again = judge(judged_set, "latest", "--resume", "--json")
    assert (place.requests, again.stdout) == ([], done.stdout)


@pytest.mark.slow
def test_an_interrupted_session_keeps_its_votes_and_can_go_on(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    release = threading.Event()

    def stuck(body: dict[str, Any]) -> tuple[int, str]:
        if len(place.requests) > 3:
            release.wait(60)
        return opinionated(body)

    place.answer = stuck
    session = process(place, judged_set, judged_set, "--parallel", "1")
    try:
        eventually(lambda: len(place.requests) > 3, "three votes given", seconds=60)
        session.send_signal(signal.SIGINT)
        _, errors = session.communicate(timeout=60)
    finally:
        release.set()
        session.kill()
    assert (session.returncode, errors) == (
        130,
        "m3bench: interrupted: the votes given so far are kept, and the same command with --resume continues.\n",
    )
    place.answer, place.requests = opinionated, []
    done = judge(judged_set, judged_set, "--resume", "--json")
    assert len(place.requests) == 56 - 3
    assert json.loads(done.stdout)["overall"]["missing"] == 0


def test_an_answer_that_speaks_to_the_judges_is_rated_as_any_other(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    place.answer = lambda body: (200, obedient(*texts(body)))
    done = judge(judged_set, judged_set, "--what", "completion,grounding", "--json")
    right, wrong = json.loads(done.stdout)["runs"]
    assert sum('"score": 10' in texts(body)[1] for body in place.requests) == 2 * 4, "the flattery was sent"
    assert (right["completion"]["value"], right["grounding"]["value"]) == (1, 1)
    assert (wrong["completion"]["value"], wrong["grounding"]["value"]) == (0, 0)


def test_a_model_that_judges_itself_is_named(judge: Judge, judged_set: Path) -> None:
    header = json.loads((judged_set / "set.json").read_text())
    (judged_set / "set.json").write_text(json.dumps({**header, "kind": "model", "agent": "openai-api/local/two"}))
    done = judge(judged_set, judged_set, "--what", "completion", "--json")
    assert "openai-api/local/two judges its own runs" in done.stderr
    assert "openai-api/local/one judges its own runs" not in done.stderr


def test_a_dry_run_asks_nobody_and_writes_nothing(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    done = judge(judged_set, judged_set, "--dry-run")
    assert done.stdout.startswith("2 runs, 4 judges, 56 questions: ")
    shown = json.loads(judge(judged_set, "latest", "--dry-run", "--json").stdout)["questions"]
    assert len(shown) == 28
    assert "[" in shown[0]["user"]
    assert place.requests == []
    assert not (judged_set / "data" / "judges").exists()


def test_nobody_to_ask_and_nobody_who_answers_are_two_things(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    closed = judge(judged_set, "latest", "--models", "openai-api/nowhere/model")
    assert closed.returncode == 2
    assert "NOWHERE_API_KEY" in closed.stderr
    assert "No judge can be asked" in closed.stderr
    place.answer = lambda body: (400, "never")
    silent = judge(judged_set, "latest", "--what", "grounding")
    assert silent.returncode == 1
    assert "no judge" in silent.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["zzz"], "There is no run 'zzz'"),
        (["latest", "--models", ","], "--models names no model"),
        (["latest", "--models", "a/b,a/b"], "more than once"),
        (["latest", "--what", "charm"], "--what cannot be charm"),
        (["latest", "--mode", "charm"], "choose m3bench, m3-bench, mcp-bench, mcpverse"),
        (["latest", "--mode", "mcpverse"], "'survey-1' states no answer to compare with"),
        (["latest", "--text-only", "a/b"], "which --models does not"),
        (["tests"], "holds no recorded runs"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(
    judge: Judge, place: Endpoint, recorded: Path, arguments: list[str], says: str
) -> None:
    done = judge(recorded, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_runs_of_other_tasks_and_runs_without_an_answer_are_refused(
    judge: Judge, place: Endpoint, judged_set: Path
) -> None:
    store = SqliteStore(judged_set / "data")
    unfinished = next(run.id for run in store.runs() if run.answer is None)
    store.close()
    done = judge(judged_set, unfinished)
    assert done.returncode == 2
    assert "only a run that was submitted can be judged" in done.stderr
    tasks = judged_set / "set" / "tasks.json"
    tasks.write_text(tasks.read_text().replace("How much is everything", "How little is everything"))
    done = judge(judged_set, "latest")
    assert done.returncode == 2
    assert "was made with other tasks" in done.stderr
    assert "--tasks" in done.stderr


def test_a_run_that_is_deleted_takes_its_judgement_along(judge: Judge, judged_set: Path) -> None:
    done = judge(judged_set, "latest", "--what", "completion", "--json")
    (run,) = json.loads(done.stdout)["runs"]
    assert read_judgement(judged_set / "data", run["run"]) is not None
    delete([run["run"]], RecordOptions(data=judged_set / "data"), yes=True)
    assert read_judgement(judged_set / "data", run["run"]) is None


def test_a_budget_is_kept_to_the_request_and_resume_goes_on(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    planned = json.loads(judge(judged_set, judged_set, "--what", "grounding", "--dry-run", "--json").stdout)
    assert planned["requests"] == {"least": 8, "most": 24}
    assert "in 8 requests, or up to 24" in judge(judged_set, judged_set, "--what", "grounding", "--dry-run").stdout
    assert place.requests == []
    first = judge(judged_set, judged_set, "--what", "grounding", "--budget", "5")
    assert len(place.requests) == 5
    assert "the budget is used up: 5 requests" in first.stderr
    assert "3 questions left: the same command with --resume continues." in first.stderr
    judge(judged_set, judged_set, "--what", "grounding", "--budget", "5", "--resume")
    assert len(place.requests) == 8


def test_a_judge_whose_key_is_refused_is_not_asked_again(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    place.answer = lambda body: (401, "Incorrect API key") if body["model"] == "one" else opinionated(body)
    done = judge(judged_set, judged_set, "--what", "grounding,completion", "--parallel", "1")
    assert [body["model"] for body in place.requests].count("one") == 1
    told = "judge openai-api/local/one was not asked again: its provider says: authentication (401): Incorrect API key"
    assert told in done.stderr
    assert done.returncode == 0


def test_a_judge_that_is_busy_is_asked_again_in_sight(judge: Judge, place: Endpoint, judged_set: Path) -> None:
    left = [503]
    place.answer = lambda body: (left.pop(), "busy") if left else opinionated(body)
    done = judge(judged_set, judged_set, "--what", "grounding", "--parallel", "1")
    assert len(place.requests) == 9
    assert "overload (503): busy. Next try in 1 s." in done.stderr
