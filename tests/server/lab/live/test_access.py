"""Who may see the live view, and what of it: tokens, origins, what is not sealed, what is ranked."""

import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from m3bench.tasks.atomic_files import write_private
from tests.browser import Browser
from tests.server.conftest import serving
from tests.server.lab.live.conftest import Watched, watched
from tests.server.lab.live.players import NUMBERS, player

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATHS = ["/", "/live/state", "/live/events", "/live/run/0123456789abcdef", "/live/results", "/live/task/sum-1"]
TOKEN = "s3cret-of-the-operator"
HIDDEN = ["Add 4, 8, 15", "answer_names", "reference_steps"]
"""From the task's wording, checks and references."""


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_other_hosts_and_origins_are_kept_out(shared: Watched, path: str) -> None:
    assert shared.get(path, host="evil.example").status_code == 421
    assert shared.get(path, origin="https://evil.example").status_code == 403


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", PATHS[1:])
def test_a_page_of_another_origin_cannot_ask(shared: Watched, path: str) -> None:
    assert shared.get(path, **{"sec-fetch-site": "cross-site"}).status_code == 403


@pytest.mark.parametrize("path", ["/", "/live/state", "/live/run/0123456789abcdef"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_changed(shared: Watched, method: str, path: str) -> None:
    assert httpx2.request(method, shared.url + path, timeout=30).status_code == 405


def test_answers_are_not_kept_framed_or_guessed(shared: Watched) -> None:
    headers = shared.get("/").headers
    assert headers["cache-control"] == "no-store"
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert shared.get("/live/else").status_code == 404


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, task_set: Path) -> Iterator[str]:
    """The address of a server with a token."""
    data = tmp_path_factory.mktemp("locked") / "data"
    with serving(["--tasks", str(task_set), "--data", str(data)], env={"M3BENCH_TOKEN": TOKEN}) as url:
        yield url


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_a_token_that_is_set_opens_everything_and_nothing_else_does(locked: str, path: str) -> None:
    def status(query: str = "", **headers: str) -> int:
        with httpx2.stream("GET", locked + path + query, headers=headers, timeout=30) as response:
            return response.status_code

    found = 404 if re.search("run|results|task", path) else 200
    port = locked.rpartition(":")[2]
    assert status() == 401
    assert status("?token=wrong") == 401
    assert status(authorization="Bearer wrong") == 401
    assert status(cookie=f"m3bench-live-{port}={TOKEN}") == 401
    assert status(authorization=f"Bearer {TOKEN}") == found
    given = httpx2.get(f"{locked}{path}?token={TOKEN}", timeout=30)
    assert (given.status_code, given.headers["location"]) == (303, path)
    cookie, *rules = given.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict"} <= set(rules)
    assert TOKEN not in cookie
    assert status(cookie=cookie) == found
    # What opens the page does not open the door for clients.
    assert httpx2.post(locked + "/mcp", headers={"cookie": cookie}, timeout=30).status_code == 401


def test_a_browser_that_gave_the_token_once_stays_connected(browser: Browser, locked: str) -> None:
    def look(page: "Page") -> None:
        page.wait_for_selector(".status .badge.strong")
        assert TOKEN not in page.url
        assert page.evaluate("document.cookie") == ""
        page.reload()
        page.wait_for_selector(".status .badge.strong")

    browser.visit(f"{locked}/?token={TOKEN}", look, allowed=[locked])


def test_a_run_that_is_not_sealed_shows_neither_scores_nor_anything_of_its_task(fresh: Watched) -> None:
    with player(fresh.url) as one:
        run = one.start("sum-1")
        one.call("math__sum", numbers=NUMBERS)
        assert fresh.get(f"/live/run/{run}").status_code == 404
        (told,) = fresh.state()["runs"]
        assert (told["state"], told["average"], told["success"]) == ("working", None, None)
        for path in ("/", "/live/state"):
            assert not any(secret in fresh.get(path).text for secret in HIDDEN)
        one.call("submit", answer="108")
        assert fresh.get(f"/live/run/{run}").status_code == 200
        one.start("sum-1")
    (abandoned, _) = fresh.state()["runs"]
    assert abandoned["state"] == "abandoned"
    assert fresh.get(f"/live/run/{abandoned['run']}").status_code == 404


def test_a_seat_cannot_be_taken_by_whoever_watches(fresh: Watched) -> None:
    handle = secrets.token_urlsafe(24)
    with player(fresh.url, at=f"/seat/{handle}/mcp") as one:
        one.start("sum-1")
        (seat,) = fresh.state()["seats"]
        assert seat["run"] is not None
        assert not any(handle in fresh.get(path).text for path in ("/", "/live/state"))


@pytest.mark.slow
def test_ranked_scores_are_for_the_operator_alone(tmp_path: Path) -> None:
    for server in watched(tmp_path / "open", "--ranked"):
        with player(server.url) as one:
            run = one.play()
        state = server.state()
        (told,) = [row for row in state["runs"] if row["run"] == run]
        assert (told["state"], told["average"], told["success"], told["hidden"]) == ("scored", None, None, True)
        assert [line["average"] for line in state["standings"]] == [None]
        assert {call["arguments"] for call in state["calls"]} == {None}
        for path in (f"/live/run/{run}", "/live/results", "/live/tasks", "/live/task/sum-1"):
            assert server.get(path).status_code == 404
        text = server.get("/").text
        assert not any(secret in text for secret in HIDDEN)
        data, tasks = server.data, server.tasks
    arguments = ["--tasks", str(tasks), "--data", str(data), "--ranked"]
    client, operator = {"authorization": "Bearer that-of-the-clients"}, {"authorization": f"Bearer {TOKEN}"}
    clients = {"M3BENCH_TOKEN": "that-of-the-clients"}
    with serving(arguments, env=clients) as url:
        # What opens the door for clients shows them no scores.
        server = Watched(url=url, data=data, tasks=tasks)
        (told,) = [row for row in server.state(**client)["runs"] if row["run"] == run]
        assert (told["average"], told["hidden"]) == (None, True)
        assert server.get(f"/live/run/{run}", **client).status_code == 404
        assert server.get("/live/task/sum-1", **client).status_code == 404
    with serving(arguments, env={**clients, "M3BENCH_OPERATOR_TOKEN": TOKEN}) as url:
        server = Watched(url=url, data=data, tasks=tasks)
        (told,) = [row for row in server.state(**operator)["runs"] if row["run"] == run]
        assert told["average"] is not None
        assert "reference_steps" in server.get(f"/live/run/{run}", **operator).text
        assert run in server.get("/live/results", **operator).text
        for path in ("/", "/live/state", f"/live/run/{run}", "/?token=of-clients"):
            assert server.get(path, **client).status_code == 401


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"--token-file": TOKEN, "--operator-file": TOKEN},
            "Clients have the token: choose another one for the operator.",
        ),
        ({"--operator-file": ""}, "The operator's token is empty, and would keep nobody out: give one"),
        ({"--token-file": ""}, "The token is empty, and would keep nobody out: give one"),
    ],
)
def test_tokens_that_open_the_door_to_everyone_are_refused(given: dict[str, str], says: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", "serve", "--http", "127.0.0.1:0", "--data", str(tmp_path)]
    for option, token in given.items():
        write_private(tmp_path / option, token.encode())
        command += [option, str(tmp_path / option)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"m3bench: {says}")
