"""The `linkimage-mcp` server saves the picture of a page, the run's own pages first, and never goes out for it."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from PIL import Image

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher
from m3bench.sandboxes.host import Host
from m3bench.sandboxes.workspace import Workspace
from m3bench.sandboxes.world import links, tables
from m3bench.sandboxes.world.posters.painter import ELEMENTS
from m3bench.tasks.catalog import load_catalog
from tests.pictures import assert_same_bytes, encoded
from tests.sandboxes.servers.conftest import Bench

TOOL = "linkimage-mcp/fetch_unsplash_image"

PUBLIC = (
    "https://unsplash.com/photos/brown-boat-on-water-near-city-buildings-during-daytime-8Rk1DqL_Lkc",
    "https://unsplash.com/photos/a-tall-tower-with-a-flag-on-top-of-it-BRAKVv0qfrE",
    "https://unsplash.com/photos/colorful-buildings-on-a-dock-tl70XmyAKeg",
    "https://unsplash.com/photos/people-walking-on-gray-concrete-pathway-during-daytime-TGaeuG1Lxhw",
    "https://unsplash.com/photos/a-large-white-building-with-lots-of-windows-DhLnYKE5nfU",
    "https://unsplash.com/photos/a-desert-landscape-with-a-mountain-range-in-the-background-7lTmgaHLEG8",
    "https://unsplash.com/photos/people-near-building-_K2uemedTGo",
)


def test_the_answer_names_the_file_that_was_saved(bench: Bench) -> None:
    text = bench.text(TOOL, url=PUBLIC[0])
    assert text == json.dumps(json.loads(text))
    answer = json.loads(text)
    assert list(answer) == ["message", "image_url", "author", "saved_path"]
    assert answer["saved_path"] == "/workspace/images/8Rk1DqL_Lkc.jpg"
    with Image.open(bench.folder / "images" / "8Rk1DqL_Lkc.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (1200, 800))


@pytest.mark.slow
@pytest.mark.sample(5)
@pytest.mark.parametrize("page", links.pages().values(), ids=lambda page: page.title)
def test_every_page_has_a_small_picture_under_its_address(page: links.LinkedPage) -> None:
    assert links.page_id(page.address) == page.id
    picture = links.picture(page)
    assert len(picture) < 300_000
    with Image.open(BytesIO(picture)) as image:
        assert image.size == (1200, 800)
        assert len(set(image.resize((60, 40)).get_flattened_data())) > 200
    assert {name for name, _ in page.elements} <= set(ELEMENTS)


def test_the_pages_are_many_and_the_public_ones_among_them() -> None:
    addresses = [page.address for page in links.pages().values()]
    assert len(addresses) >= 24
    assert set(PUBLIC) <= set(addresses)


def test_no_address_names_its_place() -> None:
    for page in links.pages().values():
        assert not set(page.title.lower().split()) & set(page.slug.split("-")), page.address


def test_pages_agree_with_the_world() -> None:
    landmarks = {record["id"]: record for record in tables.load("landmarks")}
    for page in links.pages().values():
        assert page.landmark_id in landmarks
        assert page.city_id in (None, landmarks[page.landmark_id or ""].get("city_id")), page.title


@pytest.mark.parametrize(
    "url",
    [
        "https://unsplash.com/photos/tl70XmyAKeg",
        "https://unsplash.com/photos/colorful-buildings-on-a-dock-tl70XmyAKeg/",
        "https://unsplash.com/photos/colorful-buildings-on-a-dock-tl70XmyAKeg?utm_source=x-y#z-1",
        "https://unsplash.com/de/fotos/bunte-gebaude-tl70XmyAKeg",
        "  tl70XmyAKeg\n",
    ],
)
def test_only_the_id_at_the_end_counts(bench: Bench, url: str) -> None:
    assert json.loads(bench.text(TOOL, url=url))["saved_path"] == "/workspace/images/tl70XmyAKeg.jpg"


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("https://unsplash.com/photos/a-cat-on-a-sofa-AAAAAAAAAAA", "gap"),
        ("https://example.org/", "invalid_arguments"),
        ("https://unsplash.com/photos/a-cat-", "invalid_arguments"),
        ("http://[broken", "invalid_arguments"),
        ("https://unsplash.com/photos/x-..%2f..%2fetc", "invalid_arguments"),
        ("", "invalid_arguments"),
    ],
)
def test_an_unknown_page_is_an_error_in_json_and_saves_nothing(bench: Bench, url: str, outcome: str) -> None:
    reply = bench.reply(TOOL, url=url)
    assert (reply.outcome, reply.result["isError"]) == (outcome, False)
    assert list(json.loads(reply.result["content"][0]["text"])) == ["error"]
    assert not any(bench.folder.iterdir())


def fetch(folder: Path, brought: dict[str, bytes], url: str) -> dict[str, Any]:
    """The answer in a run that brought pages with it."""
    context = Context(workspace=Workspace(folder), links=brought)
    reply = anyio.run(Dispatcher(load_catalog().ready, context).call, TOOL, {"url": url})
    answer = json.loads(reply.result["content"][0]["text"])
    assert isinstance(answer, dict)
    return answer


def test_a_page_the_run_brought_comes_before_the_worlds(tmp_path: Path) -> None:
    picture = encoded(Image.new("RGB", (8, 8), "red"), "JPEG")
    fetch(tmp_path, {"tl70XmyAKeg": picture}, PUBLIC[2])
    assert_same_bytes((tmp_path / "images" / "tl70XmyAKeg.jpg").read_bytes(), picture, "the world's page")
    fetch(tmp_path, {"https://unsplash.com/photos/my-own-page-Own_Page_01": picture}, "https://x.org/Own_Page_01")
    assert_same_bytes((tmp_path / "images" / "Own_Page_01.jpg").read_bytes(), picture, "the run's own page")


def test_a_brought_picture_in_another_format_becomes_a_jpeg(tmp_path: Path) -> None:
    fetch(tmp_path, {"own": encoded(Image.new("RGB", (8, 8), "red"), "PNG")}, "own")
    with Image.open(tmp_path / "images" / "own.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (8, 8))


def test_a_brought_picture_that_is_none_is_an_error(tmp_path: Path) -> None:
    assert list(fetch(tmp_path, {"own": b"nonsense"}, "own")) == ["error"]
    assert not any(tmp_path.iterdir())


def test_a_host_takes_pages_when_it_is_configured(tmp_path: Path) -> None:
    picture = encoded(Image.new("RGB", (8, 8), "red"), "JPEG")
    answers: list[dict[str, Any]] = []

    def request(number: int, method: str, params: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"

    async def incoming() -> AsyncIterator[bytes]:
        yield request(1, "m3bench/configure", {"links": {"own": "no base64!"}})
        yield request(2, "m3bench/configure", {"links": {"own": b64encode(picture).decode()}})
        yield request(3, "tools/call", {"name": TOOL, "arguments": {"url": "own"}})
        while len(answers) < 3:
            await anyio.wait_all_tasks_blocked()

    async def serve() -> None:
        with anyio.fail_after(30):
            host = Host(load_catalog().ready, Workspace(tmp_path), lambda line: answers.append(json.loads(line)))
            await host.serve(incoming())

    anyio.run(serve)
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[0]["error"]["code"] == -32602
    assert_same_bytes((tmp_path / "images" / "own.jpg").read_bytes(), picture, "the page")
