"""An episode is a run without a protocol and a database: the same bytes, the same score, and nothing left behind."""

from pathlib import Path

import pytest

from m3bench.server.lab.training.episodes import EpisodeRules, LearnerCall
from m3bench.server.lab.training.train_set import oracle_answer, oracle_turns
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.errors import RunError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.secret import SecretLibrary
from tests.server.lab.training.playing import app_of, episodes, over_mcp, play_oracle

QUICK = ("barcode_lookup-1", "fish-1")

pytestmark = pytest.mark.anyio


async def compare(tasks: list[str], folder: Path) -> None:
    library = Library()
    app = app_of(folder / "data", library)
    async with app.lifespan(), episodes(folder / "rooms", library=library) as found:
        for id in tasks:
            task = library.task(id)
            results, card, facts = await over_mcp(app, task)
            episode, observation = await found.reset(id, pictures=False)
            answers = []
            for calls in oracle_turns(task):
                await episode.step(calls)
            answers = [call.result for call in episode.calls]
            turn = await episode.submit(**oracle_answer(task))
            assert sorted(answers) == sorted(results), id
            # Which of two calls of a turn arrives first is chance over MCP; nothing else may differ.
            assert turn.card.metrics == card.metrics, id
            assert (turn.card.success, turn.card.checks) == (card.success, card.checks), id
            text = observation.opening["content"][0]["text"]
            assert text.replace(episode.run.id, facts["run"]) == facts["text"], id
            assert turn.reward.total == 1.0, id
    assert list((folder / "rooms").iterdir()) == []


async def test_a_few_episodes_are_what_a_client_gets_over_mcp(tmp_path: Path) -> None:
    await compare(list(QUICK), tmp_path)


@pytest.mark.slow
async def test_an_episode_of_every_third_family_is_what_a_client_gets(tmp_path: Path) -> None:
    await compare(list(Library().tasks)[::24], tmp_path)


@pytest.mark.night
async def test_every_episode_is_what_a_client_gets_over_mcp(tmp_path: Path) -> None:
    await compare(list(Library().tasks), tmp_path)


async def test_the_same_episode_is_told_the_same(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms") as found:
        first, told = await found.reset("fish-1", attempt=3)
        _, again = await found.reset("barcode_lookup-1", attempt=3)
        await first.close()
        _, once_more = await found.reset("fish-1", attempt=3)
        assert told == once_more
        assert again != told
        names = [tool["name"] for tool in told.tools]
        assert names[0] == "submit"
        assert not {"start_task", "score", "list_tasks"} & set(names)
        assert [block["type"] for block in told.opening["content"]] == ["text", "image"]
        assert found.in_flight == 2
    assert found.in_flight == 0
    assert found.journal.held == 0


async def test_a_group_is_told_the_same_and_each_keeps_its_own_calls(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms") as found:
        right, told = await found.reset("barcode_lookup-1", attempt=0)
        idle, also = await found.reset("barcode_lookup-1", attempt=0)
        assert also == told
        for calls in oracle_turns(right.task):
            await right.step(calls)
        assert idle.calls == []
        assert (await right.submit(**oracle_answer(right.task))).reward.total == 1.0
        wrong = dict.fromkeys(right_fields(idle.task.fields), 0)
        card = (await idle.submit("I do not know.", wrong)).card
        assert card is not None
        assert card.metrics["recall"] == 0


async def test_mistakes_are_answered_and_cost_no_episode(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms") as found:
        episode, _ = await found.reset("fish-1", pictures=False)
        turn = await episode.step(
            [
                LearnerCall(name="no_such_tool", arguments={}),
                LearnerCall(name="wiki__search", arguments=3),
                LearnerCall(name="wiki__search", arguments={"wrong": float("nan")}),
                LearnerCall(name="start_task", arguments={}),
                LearnerCall(name="submit", arguments={"fields": 7}),
            ]
        )
        assert not turn.done
        assert turn.reward.total == 0
        assert [b"error" in result or b'"isError":true' in result for result in turn.results] == [True] * 5
        first = await episode.submit("I do not know.")
        assert not first.done
        assert b"missing" in first.results[0]
        last = await episode.submit("I do not know.")
        assert last.done
        assert last.reward.total == 0
        with pytest.raises(RunError, match="over"):
            await episode.step([])


async def test_an_episode_ends_when_its_turns_are_used_up(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms", EpisodeRules(max_turns=2)) as found:
        episode, _ = await found.reset("fish-1", pictures=False)
        assert not (await episode.step([])).done
        turn = await episode.step([LearnerCall(name="math__add", arguments={"firstNumber": 1, "secondNumber": 2})])
        assert turn.done
        assert turn.card.success is False


async def test_submit_is_a_call_like_any_other(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms") as found:
        episode, _ = await found.reset("barcode_lookup-1", pictures=False)
        *turns, last = oracle_turns(episode.task)
        for calls in turns:
            await episode.step(calls)
        turn = await episode.step([LearnerCall(name="submit", arguments=oracle_answer(episode.task)), *last])
        assert turn.done
        assert turn.reward.total == 1.0
        assert len(turn.results) == len(last) + 1
        assert b"over" in turn.results[0]


async def test_a_fault_of_ours_makes_an_episode_void_and_never_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with episodes(tmp_path / "rooms") as found:
        episode, _ = await found.reset("fish-1", pictures=False)
        sandbox = await episode.run.lease.start()
        await sandbox.aclose()
        turns = await play_oracle(episode)
        assert turns[-1].done
        assert turns[-1].reward.total is None
        assert "sandbox" in turns[-1].reward.void


async def test_a_secret_set_is_not_for_training(tmp_path: Path) -> None:
    library = Library()
    secret = SecretLibrary(library.set, {}, {})
    with pytest.raises(UserError, match="not for training"):
        async with episodes(tmp_path / "rooms", library=secret):
            raise AssertionError
