"""The `Reddit-MCP-Server` server: what is hot in a community, and one post with its comments.

Failures are ordinary results with the status that Reddit would answer. Deviation: the public server asks for nested
comments and drops them; here `comment_depth` levels are shown, replies two spaces deeper than what they answer.
"""

import re
from collections.abc import Iterable, Iterator

from m3bench.sandboxes.identifiers import is_post, is_subreddit
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import threads
from m3bench.sandboxes.world.threads import Comment, Thread
from m3bench.tasks.errors import SoftError

server = ToolServer("Reddit-MCP-Server")

_MOST_POSTS = 100
_SHOWN_CHARACTERS = 200
_NOT_FOUND = "Error: Reddit API returned 404"
_ADDRESS = re.compile(r"(?:.*/comments/|t3_)?([0-9a-z]+)(?:/.*)?", re.DOTALL)


@server.tool
async def search_hot_posts(subreddit: str = "MachineLearning", limit: int = 5) -> str:
    try:
        found = threads.hot(subreddit)
    except KeyError:
        raise SoftError(_NOT_FOUND, outcome="gap" if is_subreddit(subreddit) else "not_found") from None
    if limit < 1:
        raise SoftError("No results found.", outcome="invalid_arguments")
    return "\n".join(_listed(thread) for thread in found[: min(limit, _MOST_POSTS)])


@server.tool
async def get_post_content(post_id: str, comment_limit: int = 10, comment_depth: int = 2) -> str:
    if not post_id.strip():
        raise SoftError("No post data found.", outcome="invalid_arguments")
    address = _ADDRESS.fullmatch(post_id.strip().lower())
    asked = address[1] if address else ""
    try:
        thread = threads.thread(asked)
    except KeyError:
        raise SoftError(_NOT_FOUND, outcome="gap" if is_post(asked) else "not_found") from None
    return "\n".join(
        [
            f"**{thread.title}**",
            f"Author: {thread.author}",
            f"Score: {thread.score}",
            f"Content: {thread.text or '(no text)'}",
            "Comments:",
            *_lines(thread.replies[: max(0, comment_limit)], comment_depth),
        ]
    )


def _listed(thread: Thread) -> str:
    return (
        f"- {thread.title}\n"
        f"  Score: {thread.score} | Comments: {thread.comments}\n"
        f"  Author: {thread.author}\n"
        f"  Link: https://reddit.com{thread.path}\n"
    )


def _lines(comments: Iterable[Comment], depth: int, indent: str = "") -> Iterator[str]:
    if depth < 1:
        return
    for comment in comments:
        yield f"{indent}- {comment.author}: {comment.text[:_SHOWN_CHARACTERS]}"
        yield from _lines(comment.replies, depth - 1, indent + "  ")
