"""A ranked event from its file to its board: who may play and when, one attempt each, results that others rescore."""

import json
import shutil
from base64 import b64decode
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from m3bench.server.runs.event import RankedEvent
from m3bench.server.store.sqlite import SqliteStore
from tests.clients.people import SignedServer, free_port
from tests.ranked.house import HEADERS, House, Player
from tests.server.lab.interchange.tampering import change_json, index_again, packed, unpacked
from tests.sets import write_set

NUMBERS = [4, 8, 15, 16, 23, 42]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> House:
    """An event that was played by three of its four participants and has closed."""
    house = House(folder=tmp_path_factory.mktemp("event"), names=("ann", "bob", "cy", "dee"))
    with house.serving() as url:
        anyio.run(_play_all, house, url)
    early = house.open()
    assert (early.returncode, "participants are playing" in early.stderr) == (2, True), early.stderr
    house.close()
    return house


async def _play_all(house: House, url: str) -> None:
    with anyio.fail_after(300):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_ann, f"{url}/mcp", house.tokens["ann"])
            tasks.start_soon(_bob, f"{url}/mcp", house.tokens["bob"])
            tasks.start_soon(_cy, f"{url}/seat/{'x' * 30}/mcp", house.tokens["cy"])


async def _ann(url: str, token: str) -> None:
    """Plays everything, each task in a session of its own."""
    async with Player(url, token) as ann:
        tasks = await ann.tasks()
        for task in tasks:
            await ann.start(task)
            await ann.call("math__sum", numbers=NUMBERS)
            told = await ann.hand_in("The sum is 108.")
            assert "Submitted and sealed" in told
            assert "hidden until the event closes" in await ann.call("score")
        again = await ann.call("start_task", task_id=tasks[0])
        assert "a ranked task is attempted once" in again
    async with Player(url, token) as later:
        assert "attempted once" in await later.call("start_task"), "another session is no other participant"


async def _bob(url: str, token: str) -> None:
    """Submits one and gives the other one up."""
    async with Player(url, token) as bob:
        first, second = await bob.tasks()
        await bob.start(first)
        await bob.hand_in("I do not know.")
        await bob.start(second)
        assert "attempted once" in await bob.call("start_task", task_id=second, abandon=True)


async def _cy(url: str, token: str) -> None:
    """Starts and leaves."""
    async with Player(url, token) as cy:
        await cy.start((await cy.tasks())[0])
        await cy.call("math__sum", numbers=NUMBERS)


@pytest.mark.slow
def test_an_event_is_opened_rescored_and_put_on_a_board_by_a_stranger(held: House, tmp_path: Path) -> None:
    done = held.open()
    assert done.returncode == 0, done.stderr
    bundles = sorted((held.folder / "bundles").glob("*.m3run"))
    assert [path.stem for path in bundles] == ["ann", "bob"], "who submitted nothing has no bundle"
    tally = json.loads((held.folder / "bundles" / "tally.json").read_text())
    assert tally["participants"] == {
        "ann": {"started": 2, "scored": 2},
        "bob": {"started": 2, "scored": 1, "working": 1},
        "cy": {"started": 1, "working": 1},
        "dee": {"started": 0},
    }
    assert _signed(tally["signed"], held.key)["predicate"]["counts"] == {"started": 5, "scored": 3, "working": 2}
    # A stranger has the bundles, the opened set and the operator's public key, and another machine.
    board = tmp_path / "board"
    one_command = held.run(
        "board", "accept", board, *bundles, "--tasks", held.folder / "opened", "--trust", held.key,
        "--at-least", "attested", "--sandbox", "inprocess",
    )  # fmt: skip
    assert one_command.returncode == 0, one_command.stderr
    entries = {entry["name"]: entry for entry in json.loads((board / "leaderboard.json").read_text())["entries"]}
    assert entries["ann"]["verdict"]["starts"] == {"started": 2, "scored": 2}
    assert entries["bob"]["verdict"]["starts"] == {"started": 2, "scored": 1, "working": 1}
    assert entries["bob"]["verdict"]["coverage"]["missing"] == 1
    assert entries["ann"]["summary"]["success"] == 0.5
    assert {entry["verdict"]["verdict"] for entry in entries.values()} == {"attested"}


@pytest.mark.slow
def test_an_event_is_played_by_people_who_sign_in_under_their_names(tmp_path: Path) -> None:
    house = House(folder=tmp_path, names=("ann", "bob"), sign_in=True)
    assert house.tokens == {}
    refused = house.run("serve", "--ranked", "--secret-file", house.secret_file, "--event", house.event, "--http",
                        "127.0.0.1:0", "--data", house.data)  # fmt: skip
    assert (refused.returncode, "start the server with --auth" in refused.stderr) == (2, True), refused.stderr
    with house.serving("--auth", "own", "--http", f"127.0.0.1:{free_port()}") as url:
        server = SignedServer(url, house.data, scopes="play")
        anyio.run(_sign_in_and_play, server)
        # What is shown is the operator's, and nobody's who was invited to play.
        seen = httpx2.get(url, headers={"authorization": f"Bearer {server.tokens('ann')['access_token']}"})
        assert (seen.status_code, "operate" in seen.headers["www-authenticate"]) == (403, True)
    house.close()
    done = house.open()
    assert done.returncode == 0, done.stderr
    tally = json.loads((house.folder / "bundles" / "tally.json").read_text())
    assert tally["participants"] == {"ann": {"started": 2, "scored": 2}, "bob": {"started": 1, "working": 1}}


async def _sign_in_and_play(server: SignedServer) -> None:
    url = f"{server.url}/mcp"
    with anyio.fail_after(300):
        tokens = await anyio.to_thread.run_sync(server.tokens, "ann")
        async with Player(url, tokens["access_token"]) as ann:
            first, second = await ann.tasks()
            await ann.start(first)
            await anyio.to_thread.run_sync(server.expire)
            tokens = await anyio.to_thread.run_sync(server.renewed, tokens)
            ann.http.headers["authorization"] = f"Bearer {tokens['access_token']}"
            await ann.call("math__sum", numbers=NUMBERS)
            assert "Submitted and sealed" in await ann.hand_in("The sum is 108.")
        # Another client and another address are no other participant, and no further attempt.
        other = await anyio.to_thread.run_sync(server.tokens, "ann")
        async with Player(f"{server.url}/seat/{'x' * 30}/mcp", other["access_token"]) as again:
            assert "attempted once" in await again.call("start_task", task_id=first)
            await again.start(second)
            assert "Submitted and sealed" in await again.hand_in("The sum is 108.")
        async with Player(url, (await anyio.to_thread.run_sync(server.tokens, "bob"))["access_token"]) as bob:
            await bob.start(first)
        stranger = await anyio.to_thread.run_sync(server.tokens, "eve")
        headers = {**HEADERS, "authorization": f"Bearer {stranger['access_token']}"}
        async with httpx2.AsyncClient(headers=headers) as eve:
            answer = await eve.post(url, json={})
        assert (answer.status_code, "not among its participants" in answer.text) == (403, True)


@pytest.mark.night
@pytest.mark.slow
def test_an_event_of_32_loses_nothing_though_its_server_is_started_again(tmp_path: Path) -> None:
    names = [f"team {number}" for number in range(32)]
    house = House(folder=tmp_path, names=tuple(names))
    for half in (names[:16], names[16:]):
        with house.serving("--sandbox", "inprocess") as url:
            anyio.run(_scripted, house, f"{url}/mcp", half)
    with house.serving("--sandbox", "inprocess") as url:
        anyio.run(_everybody_is_known, house, f"{url}/mcp")
    house.close()
    done = house.open()
    assert done.returncode == 0, done.stderr
    expected = {name: _SCRIPTS[number % 4][1] for number, name in enumerate(names)}
    tally = json.loads((tmp_path / "bundles" / "tally.json").read_text())
    assert tally["participants"] == expected
    total = {state: sum(one.get(state, 0) for one in expected.values()) for state in ("started", "scored", "working")}
    assert _signed(tally["signed"], house.key)["predicate"]["counts"] == total
    bundles = sorted((tmp_path / "bundles").glob("*.m3run"))
    accepted = house.run(
        "board", "accept", tmp_path / "board", *bundles, "--tasks", tmp_path / "opened", "--trust", house.key,
        "--at-least", "attested", "--sandbox", "inprocess", "--json",
    )  # fmt: skip
    assert accepted.returncode == 0, accepted.stderr
    assert {one["outcome"] for one in json.loads(accepted.stdout)["bundles"]} == {"accepted"}
    entries = json.loads((tmp_path / "board" / "leaderboard.json").read_text())["entries"]
    assert {entry["name"]: entry["verdict"]["starts"] for entry in entries} == {
        name: counts for name, counts in expected.items() if "scored" in counts
    }
    everything = {entry["name"] for entry in entries if entry["summary"]["metrics"]["average"] > 0.5}
    assert everything == {name for name, counts in expected.items() if counts.get("scored") == 2}


_SCRIPTS: tuple[tuple[tuple[bool, ...], dict[str, int]], ...] = (
    ((True, True), {"started": 2, "scored": 2}),
    ((True, False), {"started": 2, "scored": 1, "working": 1}),
    ((True,), {"started": 1, "scored": 1}),
    ((False,), {"started": 1, "working": 1}),
)
"""For each task that is started whether it is submitted, and what is counted then."""


async def _scripted(house: House, url: str, names: list[str]) -> None:
    async def play(name: str) -> None:
        script, _ = _SCRIPTS[int(name.split()[1]) % 4]
        async with Player(url, house.tokens[name]) as player:
            for task, submits in zip([house.secret.name("sum-1"), house.secret.name("survey-1")], script, strict=False):
                await player.start(task)
                await player.call("math__sum" if task == house.secret.name("sum-1") else "math__mean", numbers=NUMBERS)
                if submits:
                    assert "Submitted" in await player.hand_in(f"{name} says 108.")

    with anyio.fail_after(500):
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(play, name)


async def _everybody_is_known(house: House, url: str) -> None:
    """After two more starts of the server nobody has another attempt."""
    with anyio.fail_after(500):
        for name in house.names[:4]:
            async with Player(url, house.tokens[name]) as player:
                assert "attempted once" in await player.call("start_task", task_id=house.secret.name("sum-1"))


@pytest.mark.slow
def test_nobody_passes_off_the_runs_of_another(held: House, tmp_path: Path) -> None:
    if not (held.folder / "bundles").exists():
        assert held.open().returncode == 0
    members = unpacked(held.folder / "bundles" / "ann.m3run")
    change_json(members, "set.json", lambda header: header.update(name="bob"))
    index_again(members)
    stolen = packed(members, tmp_path / "stolen.m3run")
    refused = held.run(
        "board", "accept", tmp_path / "board", stolen, "--tasks", held.folder / "opened", "--no-replay", "--json"
    )
    (told,) = json.loads(refused.stdout)["bundles"]
    assert (told["outcome"], "participant: claimed bob, found ann" in told["why"]) == ("refused", True)


@pytest.mark.slow
def test_after_closing_nothing_is_played_and_everybody_sees_their_own_card(held: House) -> None:
    if not (held.folder / "bundles").exists():
        assert held.open().returncode == 0

    async def look(url: str) -> None:
        async with Player(url, held.tokens["dee"]) as dee:
            for name in ("list_tasks", "start_task"):
                assert "closed at" in await dee.call(name)
        async with Player(url, held.tokens["cy"]) as cy:
            assert "closed at" in await cy.call("math__sum", numbers=NUMBERS)
            assert "closed at" in await cy.call("submit", answer="108")
        async with Player(url, held.tokens["ann"]) as ann:
            assert "Average" in await ann.call("score") or "average" in await ann.call("score")

    with held.serving() as url:
        anyio.run(look, f"{url}/mcp")
    store = SqliteStore(held.data)
    states = sorted(run.state for run in store.runs())
    store.close()
    assert states == ["scored", "scored", "scored", "working", "working"]


@pytest.mark.slow
def test_before_it_opens_nothing_is_told(tmp_path: Path) -> None:
    house = House(folder=tmp_path, names=("ann",))
    text = house.event.read_text()
    opens = RankedEvent.read(house.event).plan.closes.replace(microsecond=0)
    lines = [f"opens = {opens.isoformat()}" if line.startswith("opens") else line for line in text.splitlines()]
    lines = [line.replace("closes = 2", "closes = 3") for line in lines]
    house.event.write_text("\n".join(lines))

    async def look(url: str) -> None:
        async with Player(url, house.tokens["ann"]) as ann:
            for name in ("list_tasks", "start_task"):
                assert "opens at" in await ann.call(name)
            asked = {"ref": {"type": "ref/prompt", "name": "run-task"}, "argument": {"name": "task_id", "value": ""}}
            assert (await ann.ask("completion/complete", asked))["result"]["completion"]["values"] == []

    with house.serving() as url:
        anyio.run(look, f"{url}/mcp")


@pytest.mark.slow
def test_practice_and_ranked_runs_never_share_a_record(held: House, tmp_path: Path) -> None:
    task_set = write_set(tmp_path / "tasks")
    refused = held.run("serve", "--tasks", task_set, "--data", held.data)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "holds ranked runs, and practice and ranked runs never share a record" in refused.stderr
    played = held.run("run", "--agent", "oracle", "--tasks", task_set, "--sandbox", "inprocess", "-o", tmp_path / "set")
    assert played.returncode == 0, played.stderr
    for folder in (tmp_path / "set" / "data", _without_mode(tmp_path / "set" / "data", tmp_path / "older")):
        refused = held.run("serve", "--ranked", "--tasks", task_set, "--data", folder)
        assert (refused.returncode, "holds practice runs" in refused.stderr) == (2, True), refused.stderr


def _without_mode(data: Path, other: Path) -> Path:
    """A record from before the two were told apart."""
    shutil.copytree(data, other)
    (other / "mode").unlink()
    return other


def _signed(envelope: Any, line: str) -> Any:
    """What an envelope states, checked with other code than ours."""
    payload, kind = b64decode(envelope["payload"]), envelope["payloadType"].encode()
    message = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    key = Ed25519PublicKey.from_public_bytes(b64decode(line.split()[1]))
    key.verify(b64decode(envelope["signatures"][0]["sig"]), message)
    return json.loads(payload)
