"""The desk: its person and documents come with the run, and what was told outlives the host."""

import json
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.offer import offer
from m3bench.server.lab.authoring.replay import play_call
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UnknownToolError
from m3bench.tasks.scene import Scene
from tests.desks import LUNCH
from tests.sandboxes.servers.conftest import Bench

SCENE = Scene(sha256="0" * 64, width=10, height=10, thumbnail=b"", desk=LUNCH)


@pytest.fixture
def lunch(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "workspace", (SCENE,))


def test_documents_are_listed_and_read_by_name_or_title(lunch: Bench) -> None:
    assert lunch.text("desk/list_documents") == "K-04: Lunches in the house\nK-09: Allergies"
    whole = "Allergies\n\nBirch pollen: no apples, no pears."
    assert {lunch.text("desk/read_document", name=name) for name in ("K-09", "k-09", "Allergies")} == {whole}
    assert "'K-11'" in lunch.error("desk/read_document", name="K-11")


def test_a_host_that_starts_again_goes_on_with_the_talk(lunch: Bench, tmp_path: Path) -> None:
    assert lunch.text("desk/ask_user", question="How many guests?") == "We are 14."
    again = Bench(tmp_path / "workspace", (SCENE,))
    assert again.text("desk/ask_user", question="Shall I go ahead?") == LUNCH.facts[0].change


def test_what_is_kept_says_nothing_of_what_the_person_knows_and_no_tool_reaches_it(lunch: Bench) -> None:
    lunch.text("desk/ask_user", question="How many guests, and which allergies?")
    (file,) = [path for path in lunch.folder.rglob("*") if path.is_file()]
    assert json.loads(file.read_text()) == {"told": [0, 1], "changed": False}
    path = file.relative_to(lunch.folder).as_posix()
    assert "error" in lunch.error("ocr/perform_ocr", input_data=path).lower()


def test_without_a_desk_nobody_answers(bench: Bench) -> None:
    for tool, arguments in (("ask_user", {"question": "Hello?"}), ("list_documents", {})):
        assert "Nobody is at the desk" in bench.error(f"desk/{tool}", arguments)
    assert "question is empty" in bench.error("desk/ask_user", question="  ")


def test_the_desk_is_offered_to_those_who_name_it_alone() -> None:
    assert "desk" not in offer(None).by_name
    assert [server.name for server in offer(["desk", "math"]).servers] == ["math", "desk"]
    catalog = load_catalog()
    assert (len(catalog.servers), len(catalog.tools)) == (27, 232)
    with pytest.raises(UnknownToolError) as refused:
        offer(None).tool("desk/ask_user")
    assert not any("desk" in name for name in refused.value.nearest)


def test_a_sandbox_in_a_process_of_its_own_has_the_desk_of_its_run(tmp_path: Path) -> None:
    async def main() -> list[str]:
        with anyio.fail_after(60):
            async with ProcessBackend() as backend:
                spec = SandboxSpec(workspace=tmp_path, servers=("desk",), scenes=(SCENE,))
                sandbox = await backend.open(spec)
                try:
                    calls = [("ask_user", {"question": "How many guests?"}), ("list_documents", {})]
                    return [
                        (await play_call(f"desk/{tool}", given, sandbox, load_catalog()))[2] for tool, given in calls
                    ]
                finally:
                    await sandbox.aclose()

    assert anyio.run(main) == ["We are 14.", "K-04: Lunches in the house\nK-09: Allergies"]
