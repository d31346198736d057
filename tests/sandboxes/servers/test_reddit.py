"""The `Reddit-MCP-Server` server shows what is hot in a community and what people said."""

import re
from collections.abc import Iterable, Iterator

import pytest

from m3bench.sandboxes.world import clock, tables, threads
from m3bench.sandboxes.world.threads import Comment
from tests.sandboxes.servers.conftest import Bench

HOT, POST = "Reddit-MCP-Server/search_hot_posts", "Reddit-MCP-Server/get_post_content"
COMMUNITIES = tables.load("communities")
THREADS = [thread for community in COMMUNITIES for thread in threads.hot(community["id"])]


def titles(text: str) -> list[str]:
    return re.findall(r"^- (.+)$", text, re.M)


def problem(bench: Bench, tool: str, **arguments: object) -> str:
    reply = bench.reply(tool, arguments)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    return bench.error(tool, arguments)


def spoken(comments: Iterable[Comment]) -> Iterator[Comment]:
    for comment in comments:
        yield comment
        yield from spoken(comment.replies)


def test_a_listing_has_four_lines_and_a_blank_one_per_post(bench: Bench) -> None:
    thread = threads.hot("bananas")[0]
    assert bench.text(HOT, subreddit="bananas", limit=1) == (
        f"- {thread.title}\n"
        f"  Score: {thread.score} | Comments: {thread.comments}\n"
        f"  Author: {thread.author}\n"
        f"  Link: https://reddit.com/r/bananas/comments/{thread.id}/my_banana_plant_in_a_pot_in_ohio_made_fruit/\n"
    )
    lines = bench.text(HOT, subreddit="bananas", limit=3).split("\n")
    assert [bool(line) for line in lines] == [True, True, True, True, False] * 3


def test_a_limit_beyond_what_there_is_gives_everything_once(bench: Bench) -> None:
    found = titles(bench.text(HOT, subreddit="tomato", limit=25))
    assert found == titles(bench.text(HOT, subreddit="tomato", limit=4000))
    assert len(found) == len(set(found)) >= 4


def test_without_arguments_five_posts_of_the_default_community_come(bench: Bench) -> None:
    text = bench.text(HOT)
    assert "/r/MachineLearning/" in text
    assert 4 <= len(titles(text)) <= 5


@pytest.mark.parametrize("name", ["ASKREDDIT", "askreddit", "r/AskReddit", "/r/askreddit/", " Ask Reddit "])
def test_a_name_is_known_in_any_case_and_with_its_prefix(bench: Bench, name: str) -> None:
    assert bench.text(HOT, subreddit=name, limit=3) == bench.text(HOT, subreddit="AskReddit", limit=3)


def test_a_plural_finds_the_singular_only_when_there_is_no_closer_name(bench: Bench) -> None:
    assert "/r/grape/" in bench.text(HOT, subreddit="grapes")
    assert "/r/waterbottle/" in bench.text(HOT, subreddit="water bottles")
    assert "/r/oranges/" in bench.text(HOT, subreddit="oranges")
    assert "/r/orange/" in bench.text(HOT, subreddit="orange")


def test_a_listing_leads_to_the_posts_it_names(bench: Bench) -> None:
    text = bench.text(HOT, subreddit="Pizza", limit=2)
    for id, title in zip(re.findall(r"/comments/(\w+)/", text), titles(text), strict=True):
        assert bench.text(POST, post_id=id).startswith(f"**{title}**\nAuthor: ")


def test_a_post_is_shown_with_its_text_and_comments(bench: Bench) -> None:
    thread = threads.hot("bananas")[0]
    lines = bench.text(POST, post_id=thread.id, comment_limit=2, comment_depth=1).split("\n")
    assert lines == [
        f"**{thread.title}**",
        f"Author: {thread.author}",
        f"Score: {thread.score}",
        f"Content: {thread.text}",
        "Comments:",
        *(f"- {comment.author}: {comment.text[:200]}" for comment in thread.replies[:2]),
    ]


def test_depth_shows_replies_below_what_they_answer(bench: Bench) -> None:
    thread = next(thread for thread in THREADS if any(reply.replies for reply in spoken(thread.replies)))
    texts = {depth: bench.text(POST, post_id=thread.id, comment_limit=100, comment_depth=depth) for depth in (1, 2, 9)}
    assert not re.findall(r"^ +- ", texts[1], re.M)
    assert re.findall(r"^  - ", texts[2], re.M)
    assert len(re.findall(r"^ *- ", texts[9], re.M)) == len(list(spoken(thread.replies)))


def test_a_post_without_text_says_so(bench: Bench) -> None:
    thread = next(thread for thread in THREADS if not thread.text)
    assert "\nContent: (no text)\nComments:\n" in bench.text(POST, post_id=thread.id)


def test_an_id_may_come_as_it_stands_in_addresses(bench: Bench) -> None:
    thread = threads.hot("pizza")[0]
    expected = bench.text(POST, post_id=thread.id)
    for spelling in (f"t3_{thread.id}", thread.id.upper(), f"https://reddit.com{thread.path}", thread.path):
        assert bench.text(POST, post_id=spelling) == expected


def test_long_comments_are_cut_after_two_hundred_characters(bench: Bench) -> None:
    thread, comment = next((t, c) for t in THREADS for c in t.replies if len(c.text) > 200)
    text = bench.text(POST, post_id=thread.id, comment_limit=100)
    assert f"- {comment.author}: {comment.text[:200]}" in text.split("\n")


def test_what_does_not_exist_is_told_without_the_error_flag(bench: Bench) -> None:
    for name in ("nosuchplaceatall", "../communities", "threads/pizza", ""):
        assert problem(bench, HOT, subreddit=name) == "Error: Reddit API returned 404"
    for id in ("zzzzzzz", "../../etc/passwd", 'x", "', "t3_"):
        assert problem(bench, POST, post_id=id) == "Error: Reddit API returned 404"
    assert problem(bench, POST, post_id=" ") == "No post data found."
    assert problem(bench, HOT, subreddit="pizza", limit=0) == "No results found."


def test_every_community_has_threads_and_every_thread_has_a_conversation() -> None:
    assert len(COMMUNITIES) >= 44
    for community in COMMUNITIES:
        found = threads.hot(community["id"])
        assert len(found) >= 4, community
        best = list(spoken(found[0].replies))
        assert len(best) >= 5, found[0].title
        assert any(comment.replies for comment in best), found[0].title
    for thread in THREADS:
        assert thread.comments >= len(list(spoken(thread.replies))) >= 4, thread.title
        assert any(comment.replies for comment in spoken(thread.replies)), thread.title
        assert thread.created < clock.NOW


def test_the_hottest_come_first_after_what_is_pinned() -> None:
    for community in COMMUNITIES:
        found = threads.hot(community["id"])
        order = [(not thread.stickied, -thread.heat) for thread in found]
        assert order == sorted(order)


def test_nobody_says_the_same_thing_twice() -> None:
    said = [comment.text for thread in THREADS for comment in spoken(thread.replies)]
    assert len(said) == len(set(said))
    openings = [" ".join(text.split()[:5]) for text in said if len(text.split()) > 6]
    assert len(set(openings)) > 0.97 * len(openings)
    names = [thread.title for thread in THREADS]
    assert len(names) == len(set(names))


def test_younger_threads_have_larger_ids() -> None:
    by_age = sorted(THREADS, key=lambda thread: thread.created)
    numbers = [int(thread.id, 36) for thread in by_age]
    assert numbers == sorted(numbers)
