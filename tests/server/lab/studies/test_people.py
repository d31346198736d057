"""Studies with people: links, consent, balanced order, and crowds over the page's own HTTP, through a kill."""

import json
import math
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from m3bench.server.lab.interchange.labels import read_labels
from m3bench.server.lab.reports.standings import leaderboard_document
from m3bench.server.lab.reports.summary import set_document
from m3bench.server.lab.results.analyses.people import PEOPLE_SPREAD, REST, TASK_SPREAD, half_width, people_facts
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.lab.studies.people import JOURNAL, PeopleStudy, balanced, read_people_plan
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import InputFileError, RunError, UserError
from tests.browser import Browser, serious, unsound
from tests.pages import ROOT
from tests.sets import write_set
from tests.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

M3BENCH = [sys.executable, "-m", "m3bench.server.cli"]
SECONDS = 300.0
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def write_plan(where: Path, **more: Any) -> Path:
    """A plan whose tasks need the `math` server alone."""
    write_set(where / "tests")
    said = {"name": "held", "people": 4, "set": "tests", "consent": "It is recorded.", "sandbox": "inprocess",
            "listen": "127.0.0.1:0", **more}  # fmt: skip
    (where / "people.yaml").write_text(json.dumps(said), "utf-8")
    return where / "people.yaml"


@pytest.mark.parametrize(("people", "tasks", "each"), [(20, 30, 30), (30, 30, 30), (12, 6, 2), (7, 5, 3), (1, 4, 9)])
def test_every_task_is_played_as_often_and_at_every_place_alike(people: int, tasks: int, each: int) -> None:
    names = [str(number) for number in range(tasks)]
    orders = balanced(names, people, each, seed=3)
    assert all(len(set(order)) == len(order) == min(each, tasks) for order in orders)
    often = Counter(name for order in orders for name in order)
    assert max(often.values()) - min(often[name] for name in names) <= 1
    if each >= tasks:
        places = Counter((name, place) for order in orders for place, name in enumerate(order))
        assert max(places.values()) <= -(-people // tasks)
    assert orders == balanced(names, people, each, seed=3)
    assert balanced(names, people + 5, each, seed=3)[:people] == orders, "who came before keeps their tasks"


def test_links_stay_and_more_people_may_come_but_no_other_tasks(tmp_path: Path) -> None:
    path = write_plan(tmp_path)
    first = PeopleStudy(read_people_plan(path))
    again = PeopleStudy(read_people_plan(write_plan(tmp_path / "more", people=6, folder=str(first.folder))))
    assert [again.token(number) for number in first.people] == [first.token(number) for number in first.people]
    assert len({again.token(number) for number in again.people}) == 6
    assert (first.folder / "invitations.json").stat().st_mode & 0o077 == 0
    assert again.by_cookie(first.cookie(2)) == 2
    assert again.by_cookie("2." + first.cookie(3)[2:]) is None
    assert again.by_cookie("x") is None
    with pytest.raises(InputFileError, match="other tasks"):
        PeopleStudy(read_people_plan(write_plan(tmp_path / "other", limit=1, folder=str(first.folder))))
    with pytest.raises(InputFileError, match="one seat"):
        read_people_plan(write_plan(tmp_path / "standard", profile="standard"))


def test_nothing_is_kept_of_a_person_but_what_was_asked(tmp_path: Path) -> None:
    asked = [{"name": "age", "question": "How old?", "required": True}]
    study = PeopleStudy(read_people_plan(write_plan(tmp_path, ask=asked)))
    seat = study.people[1].seat
    with pytest.raises(RunError, match="agreed"):
        study.tasks_of(seat)
    with pytest.raises(UserError, match="Agree"):
        study.note(1, {"run": "a", "seconds": 3})
    with pytest.raises(UserError, match="How old"):
        study.note(1, {"agree": {"name": "Ann"}})
    with pytest.raises(UserError, match="nothing that the page"):
        study.note(1, {"name": "Ann"})
    for message in ({"agree": {"age": "30", "name": "Ann"}}, {"run": "a", "seconds": 10}, {"run": "a", "seconds": 11},
                    {"run": "a", "seconds": 9}, {"run": "a", "seconds": 16},
                    {"label": "0", "says": "yes"}):  # fmt: skip
        study.note(1, message)
    lines = [json.loads(line) for line in (study.folder / JOURNAL).read_text("utf-8").splitlines()]
    assert [{name: line[name] for name in line if name not in ("person", "at")} for line in lines] == [
        {"agree": {"age": "30"}}, {"run": "a", "seconds": 10}, {"run": "a", "seconds": 16},
    ]  # fmt: skip
    assert (study.folder / JOURNAL).stat().st_mode & 0o077 == 0, "what people said is their operator's alone"
    with (study.folder / JOURNAL).open("a", encoding="utf-8") as journal:
        journal.write('{"person": 2, "agr')
    known = PeopleStudy(read_people_plan(tmp_path / "people.yaml"))
    assert known.tasks_of(seat) == study.people[1].tasks, "a line that was cut off costs nothing else"
    known.note(2, {"agree": {"age": "40"}})
    assert PeopleStudy(read_people_plan(tmp_path / "people.yaml")).tasks_of(study.people[2].seat)


def test_more_people_make_an_interval_narrower() -> None:
    widths = [half_width(people, 10, 30) for people in (5, 10, 20, 40)]
    assert all(one > other for one, other in pairwise(widths))


def test_as_many_people_are_needed_as_cochran_says_where_each_has_a_task_of_their_own() -> None:
    """n = 1.96² · p (1 − p) / d² for a share p = 0.8 and half an interval d."""
    for half, people in ((0.10, 61.5), (0.05, 245.9), (0.02, 1536.6)):
        needed = next(n for n in range(1, 5000) if half_width(n, 1, n) <= half)
        assert needed == math.ceil(people)


def test_half_an_interval_is_what_people_and_tasks_that_differ_give() -> None:
    """Whoever draws people, tasks and chance with the variances said sees the mean spread so."""
    random, means = Random(5), []
    people, tasks = 10, 30
    for _ in range(600):
        who = [random.gauss(0, math.sqrt(PEOPLE_SPREAD)) for _ in range(people)]
        what = [random.gauss(0, math.sqrt(TASK_SPREAD)) for _ in range(tasks)]
        rest = random.gauss(0, math.sqrt(REST / (people * tasks)))
        means.append(mean(who) + mean(what) + rest)
    assert 1.96 * stdev(means) == pytest.approx(half_width(people, tasks, tasks), rel=0.1)


def test_the_table_of_the_docs_is_what_the_formula_gives() -> None:
    text = (ROOT / "docs" / "studies.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(rows) >= 4
    for people, few, many in (map(int, row) for row in rows):
        assert round(100 * half_width(people, 10, 30)) == few
        assert round(100 * half_width(people, 100, 100)) == many


def test_labels_of_two_people_agree_as_in_krippendorffs_own_example(tmp_path: Path) -> None:
    """Two observers of ten articles, yes or no: 0.095 (Computing Krippendorff's Alpha-Reliability, 2011, A)."""
    pair = {"first": {"tool": "math/sum", "arguments": {"numbers": [1]}},
            "second": {"tool": "math/sum", "arguments": {"numbers": [2]}}}  # fmt: skip
    (tmp_path / "things.json").write_text(json.dumps([pair] * 10), "utf-8")
    study = PeopleStudy(read_people_plan(write_plan(tmp_path, people=2, labels="things.json")))
    for person, said in ((1, "0100000010"), (2, "1110010000")):
        study.note(person, {"agree": {}})
        for thing, word in enumerate(said):
            study.note(person, {"label": str(thing), "says": "yes" if word == "1" else "no"})
    (found,) = study.label_agreement().values()
    assert found == pytest.approx(0.095, abs=0.0005)


class Taker:
    """A person as their page is seen from the server; what fails is tried again, as somebody would press again."""

    def __init__(self, base: str, link: str) -> None:
        self.base, self.token = base, link.partition("link=")[2]
        self._web = httpx2.Client(timeout=60, follow_redirects=True)
        self._session: str | None = None
        self.seen: list[tuple[str, str]] = []
        """Of each task that was handed in, its run and the answer that a call of ours came to."""

    def __enter__(self) -> "Taker":
        return self

    def __exit__(self, *_: object) -> None:
        self._web.close()

    def page(self) -> Any:
        """What their page holds."""
        html = self._again(lambda: self._web.get(f"{self.base}/", params={"link": self.token})).text
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
        assert found is not None, html[:300]
        return json.loads(found[1])

    def note(self, **message: Any) -> int:
        """Say something beside the tasks."""
        headers = {"authorization": f"Bearer {self.token}"}
        return self._again(
            lambda: self._web.post(f"{self.base}/live/people", json=message, headers=headers)
        ).status_code  # fmt: skip

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, in a session that is opened anew where the old one is gone."""
        while True:
            if self._session is None:
                about = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "person", "version": "1"},
                }
                self._session = self._post("initialize", about).headers["mcp-session-id"]
                self._post("notifications/initialized", None)
            answer = self._post("tools/call", {"name": tool, "arguments": arguments})
            if answer.status_code == 404:
                self._session = None
                continue
            return self._result(answer)

    def play(self, number: int, stop: int | None = None) -> None:
        """Play until there is nothing left: one call that nobody else makes, and an answer that says whose it is."""
        while stop is None or len(self.seen) < stop:
            opened = self.call("start_task")
            if opened.get("isError"):
                text = opened["content"][0]["text"]
                assert text.startswith("Every task was started"), text
                return
            facts = opened["_meta"]["m3bench/task"]
            # What was handed in as the server died may have to be handed in again.
            place = len([run for _, run in self.seen if run != facts["run"]])
            sum_ = self.call("math__sum", numbers=[number * 1000, place])
            assert str(number * 1000 + place) in json.dumps(sum_), sum_
            self._hand_in(f"person {number} on {facts['task']}")
            self.note(run=facts["run"], seconds=60 + number)
            if place == len(self.seen):
                self.seen.append((facts["task"], facts["run"]))

    def _hand_in(self, answer: str) -> None:
        """Hand in, and again where the fields that are left empty are asked for."""
        if self.call("submit", answer=answer).get("isError"):
            self.call("submit", answer=answer)

    def _post(self, method: str, params: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"id": 1, "params": params})}
        headers = {**HEADERS, "authorization": f"Bearer {self.token}",
                   **({"mcp-session-id": self._session} if self._session else {})}  # fmt: skip
        return self._again(lambda: self._web.post(f"{self.base}/mcp", json=message, headers=headers))

    @staticmethod
    def _result(answer: httpx2.Response) -> Any:
        lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
        document = json.loads(lines[-1].removeprefix("data:") if lines else answer.text)
        assert "result" in document, document
        return document["result"]

    @staticmethod
    def _again(ask: Callable[[], httpx2.Response]) -> httpx2.Response:
        end = time.monotonic() + SECONDS
        while True:
            try:
                answer = ask()
            except httpx2.TransportError:
                assert time.monotonic() < end
                time.sleep(0.2)
                continue
            if answer.status_code not in (429, 503):
                return answer
            time.sleep(0.2)


@contextmanager
def held(plan: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of a study, and where it is."""
    # In a file: nobody reads a pipe, and a server whose pipe is full stands still.
    said = plan.parent / f"said-{time.monotonic_ns()}"
    with said.open("w") as out:
        process = subprocess.Popen([*M3BENCH, "lab", "people", str(plan)], stderr=out, text=True)

    def address() -> str:
        found = re.search(r"http://127\.0\.0\.1:\d+", said.read_text("utf-8"))
        return found[0] if found else ""

    try:
        eventually(lambda: process.poll() is not None or address() != "", "the server listens", SECONDS)
        assert address(), said.read_text("utf-8")
        yield process, address()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(SECONDS)
        errors = said.read_text("utf-8")
        assert "Traceback" not in errors, errors


def links(plan: Path) -> list[str]:
    """The link of each person."""
    done = subprocess.run([*M3BENCH, "lab", "people", str(plan), "--links", "--json"], capture_output=True, check=True)
    return [entry["link"] for entry in json.loads(done.stdout)]


def test_a_link_shows_one_persons_page_and_nobody_else_gets_in(tmp_path: Path) -> None:
    things = tmp_path / "things.json"
    pair = {"first": {"tool": "math/sum", "arguments": {"numbers": [1, 2]}},
            "second": {"tool": "math/sum", "arguments": {"numbers": [2, 1]}}}  # fmt: skip
    answer = {"question": "How much?", "right": "2.50", "answer": "two and a half"}
    things.write_text(json.dumps([pair, answer]), "utf-8")
    plan = write_plan(tmp_path, people=2, labels="things.json")
    ours = links(plan)
    with held(plan) as (_, base), httpx2.Client(timeout=30) as stranger, ExitStack() as pages:
        assert stranger.get(f"{base}/").status_code == 401
        assert stranger.get(f"{base}/?link=another").status_code == 401
        assert stranger.post(f"{base}/live/people", json={"agree": {}}).status_code == 401
        assert stranger.post(f"{base}/mcp", json={}).status_code == 401
        assert stranger.get(f"{base}/live/state").status_code == 404
        ann, ben = (pages.enter_context(Taker(base, link)) for link in ours)
        study = ann.page()["study"]
        assert (study["agreed"], study["tasks"], study["done"], len(study["labels"])) == (False, 2, 0, 2)
        refused = ann.call("start_task")
        assert refused["isError"]
        assert "agreed to take part" in refused["content"][0]["text"]
        assert ann.note(run="x", seconds=1) == 400
        assert ann.note(agree={}) == ben.note(agree={}) == 204
        assert ann.call("start_task", task_id="museum-1")["isError"], "only the tasks of the study"
        first = ann.call("start_task")["_meta"]["m3bench/task"]
        ann.call("math__sum", numbers=[1, 2])
        assert ann.call("start_task")["_meta"]["m3bench/task"]["run"] == first["run"], "who comes back goes on"
        ann.play(1)
        assert ann.call("start_task", task_id=first["task"])["isError"], "a task is tried once"
        scored = ann.call("score")
        assert "ranked" in scored["content"][0]["text"]
        assert "_meta" not in scored
        for taker in (ann, ben):
            for thing in taker.page()["study"]["labels"]:
                assert taker.note(label=thing["id"], says="yes") == 204
        assert ann.page()["study"]["labels"] == []
    folder = tmp_path / "held"
    assert read_labels(folder / "labels.json").votes == 2
    assert [one["is_right"] for one in json.loads((folder / "answers-labels.json").read_text("utf-8"))] == [True, True]
    results = read_resultset(folder)
    assert (results.header.kind, len(results.results), results.header.repeats) == ("people", 2, 2)
    assert {result.sample.seconds for result in results.results} == {61.0}
    facts = people_facts(results)
    assert facts is not None
    assert (facts.people, facts.runs, facts.seconds) == (1, 2, 61.0)
    assert set_document(results).people == facts
    (entry,) = leaderboard_document([results]).entries
    assert (entry.kind, entry.rank) == ("people", None), "people are a ceiling, and no competitor"


@pytest.mark.apart
@pytest.mark.parametrize(
    ("people", "each"), [pytest.param(4, 2, marks=pytest.mark.slow), pytest.param(20, 30, marks=pytest.mark.night)]
)
def test_nothing_of_a_crowd_is_lost_or_mixed_up_when_the_server_is_killed(
    people: int, each: int, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, people=people, **({} if each == 2 else {"set": "m3", "each": each, "limit": each}))
    plan.write_text(plan.read_text("utf-8").replace("127.0.0.1:0", f"127.0.0.1:{_free_port()}"), "utf-8")
    ours = links(plan)
    with ThreadPoolExecutor(people) as crowd, ExitStack() as pages:
        with held(plan) as (process, base):
            takers = [pages.enter_context(Taker(base, link)) for link in ours]
            assert set(crowd.map(lambda taker: taker.note(agree={}), takers)) == {204}
            halves = [crowd.submit(taker.play, number) for number, taker in enumerate(takers, 1)]
            while sum(len(taker.seen) for taker in takers) < people * each // 2:
                for half in halves:
                    assert not half.done() or half.exception() is None, half.exception()
                time.sleep(0.05)
            process.kill()
            process.wait(SECONDS)
        with held(plan):
            for half in halves:
                half.result(SECONDS * 10)
    _nothing_is_lost(plan, takers, each)


def _nothing_is_lost(plan: Path, takers: Sequence[Taker], each: int) -> None:
    study = PeopleStudy(read_people_plan(plan))
    results = read_resultset(study.folder)
    assert (len(results.results), results.void, results.missing) == (len(takers) * each, (), ())
    store = open_store(RecordLocation(study.folder / "data"))
    try:
        for number, taker in enumerate(takers, 1):
            runs = sorted(store.runs(study.people[number].seat), key=lambda run: run.started)
            assert [run.task for run in runs] == list(study.people[number].tasks), "in the order that was drawn"
            assert [run.answer for run in runs] == [f"person {number} on {run.task}" for run in runs]
            assert {run for _, run in taker.seen} <= {run.id for run in runs}
            for place, run in enumerate(runs):
                sums = [call.arguments["numbers"] for call in store.calls(run.id) if call.tool == "math/sum"]
                assert sums, "no run is without its call"
                assert all(numbers[0] == number * 1000 and numbers[1] <= place for numbers in sums)
    finally:
        store.close()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.xdist_group("site")
@pytest.mark.browser
@pytest.mark.slow
def test_a_person_takes_part_with_the_keyboard_alone(browser: Browser, axe: str, tmp_path: Path) -> None:
    pair = {"first": {"tool": "math/sum", "arguments": {"numbers": [1, 2]}},
            "second": {"tool": "math/sum", "arguments": {"numbers": [2, 1]}}}  # fmt: skip
    (tmp_path / "things.json").write_text(json.dumps([pair]), "utf-8")
    plan = write_plan(tmp_path, people=1, labels="things.json", ask=[{"name": "age", "question": "How old are you?"}])
    (link,) = links(plan)

    def sound(page: "Page") -> None:
        page.emulate_media(color_scheme="dark")
        assert serious(page, axe) == []
        page.emulate_media(color_scheme="light")
        assert unsound(page, axe) == []

    def look(page: "Page") -> None:
        def go(id: str) -> None:
            for _ in range(200):
                if page.evaluate("document.activeElement.id") == id:
                    return
                page.keyboard.press("Tab")
            raise AssertionError(f"#{id} is never reached")

        sound(page)
        go("agrees")
        page.keyboard.press("Space")
        go("agree")
        page.keyboard.press("Enter")
        page.wait_for_selector("#begin")
        sound(page)
        for _ in range(2):
            go("begin")
            page.keyboard.press("Enter")
            page.wait_for_selector(".play")
            go("pause")
            page.keyboard.press("Enter")
            page.wait_for_selector("#resume")
            assert not page.locator(".play").is_visible()
            page.keyboard.press("Enter")
            page.wait_for_selector("#pause:focus")
            sound(page)
            for _ in range(200):
                if page.evaluate("document.activeElement.dataset.field") == "answer":
                    break
                page.keyboard.press("Tab")
            page.keyboard.type("I cannot solve it.")
            go("hand-in-now")
            page.keyboard.press("Enter")
            page.wait_for_selector("#begin, [data-says]")
        sound(page)
        page.keyboard.press("y")
        page.wait_for_selector("h1:has-text('Thank you')")
        sound(page)

    with held(plan) as (_, base):
        address = base + link[link.index("/?") :]
        browser.visit(address, look, allowed=[base], ready="#agree")
    results = read_resultset(tmp_path / "held")
    assert len(results.results) == 2
    assert {call.card.success for call in results.results} == {False}
    assert read_labels(tmp_path / "held" / "labels.json").same == (True,)
