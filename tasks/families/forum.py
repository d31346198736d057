"""Reading a forum's answers: what is hot in a community, and the best comment on a post."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.tasks.answers.fields import Name
from m3bench.tasks.families.base import call
from m3bench.tasks.task import ReferenceCall

_POST = re.compile(r"^- (.*)\n  Score: (-?\d+) \| Comments: (\d+)\n  Author: (.*)\n.*/comments/(\w+)/", re.MULTILINE)


@dataclass(frozen=True)
class Post:
    """A post of a list."""

    title: str
    score: int
    comments: int
    author: str
    id: str


def hot(community: str, count: int) -> ReferenceCall:
    """What is hot in a community; asking for more than the first few finds them too."""
    limits = [*range(count, 26), *([None] if count <= 5 else [])]
    return call(
        "Reddit-MCP-Server/search_hot_posts", {"subreddit": community, "limit": count},
        either={"subreddit": [community, f"r/{community}"], "limit": limits},
    )  # fmt: skip


def posts(text: str) -> list[Post]:
    """The posts of a list, in its order."""
    found = _POST.findall(text)
    return [Post(title, int(score), int(comments), author, id) for title, score, comments, author, id in found]


def opened(post: Post) -> ReferenceCall:
    """A look at a post and the comments on it."""
    return call(
        "Reddit-MCP-Server/get_post_content", {"post_id": post.id, "comment_limit": 1, "comment_depth": 1},
        free=("comment_limit", "comment_depth"),
    )  # fmt: skip


def best_comment(text: str) -> tuple[str, str]:
    """Who wrote the first comment on a post, and what; both empty when there is none."""
    first = next((line for line in text.splitlines() if line.startswith("- ")), "").removeprefix("- ")
    author, _, said = first.partition(": ")
    return author, said


def title(post: Post, others: Sequence[Post]) -> Name:
    """A post by its title, whole or its first sentence; its figures may stand beside it."""
    first = re.split(r"(?<=[.!?])\s", post.title)[0]
    return Name(
        value=post.title,
        aliases=(first,) if first != post.title and len(first.split()) >= 5 else (),
        others=tuple(other.title for other in others if other is not post),
        context=(f"score {post.score} comments {post.comments} author {post.author} points upvotes",),
    )
