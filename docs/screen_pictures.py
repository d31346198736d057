"""Takes the pictures of a task, of the live view and of a board, from real runs: `make pictures`.

The live view and the board are pages, so a headless Chromium takes them; where there is none, both stay as they are.
"""

import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

import anyio
from mcp import Client

from m3bench.server.scorecard.pages.small_pictures import shrunk
from m3bench.tasks.catalog import expose
from m3bench.tasks.library import Library
from m3bench.tasks.task import ReferenceCall

PICTURES = Path(__file__).parent / "pictures"
TASK, PLAYED, SIDE = "movies-1", ("hugeicons-1", "movies-1"), 900
"""The task whose picture is shown; those that are played in the live view, the last one in part; pixels of a side."""
AGENTS, TASKS = ("oracle", "oracle-serial", "missing", "half", "random"), 12
START_SECONDS = 60.0
M3BENCH = (sys.executable, "-m", "m3bench.server.cli")


def browser() -> str | None:
    """The program that takes pictures of pages."""
    return shutil.which("chromium") or shutil.which("google-chrome")


def take(page: str, picture: Path, size: tuple[int, int], program: str) -> None:
    """The picture of a page, after the time that it takes to draw itself."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--timeout=5000")
    window = f"--window-size={size[0]},{size[1]}"
    command = [program, *options, window, f"--screenshot={picture}", page]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def board(program: str, folder: Path) -> None:
    """The board of a few baseline agents."""
    for agent in AGENTS:
        chosen = ["--agent", agent, "--limit", str(TASKS), "--sandbox", "inprocess", "--out", folder / agent]
        subprocess.run([*M3BENCH, "run", *chosen], check=True, capture_output=True)
    sets = [folder / agent for agent in AGENTS]
    subprocess.run([*M3BENCH, "leaderboard", *sets, "-o", folder / "site"], check=True, capture_output=True)
    take((folder / "site" / "board.html").as_uri(), PICTURES / "board.png", (1440, 900), program)


def live(program: str, folder: Path) -> None:
    """The live view while a client plays."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    server = subprocess.Popen([*M3BENCH, "serve", "--http", address, "--data", folder], stderr=subprocess.DEVNULL)
    try:
        _wait_for(f"http://{address}/")
        anyio.run(_play_and_take, f"http://{address}", program)
    finally:
        server.terminate()
        server.wait()


def _wait_for(page: str) -> None:
    begun = time.monotonic()
    while True:
        try:
            urlopen(page, timeout=5).close()
            return
        except (URLError, ConnectionError):
            if time.monotonic() - begun > START_SECONDS:
                raise
            time.sleep(0.2)


async def _play_and_take(url: str, program: str) -> None:
    library = Library()
    async with Client(f"{url}/mcp", mode="legacy") as client:
        for name in PLAYED:
            task = library.task(name)
            steps = task.references[0].steps
            await client.call_tool("start_task", {"task_id": name})
            for step in steps if name != PLAYED[-1] else steps[:-1]:
                async with anyio.create_task_group() as together:
                    for call in step:
                        together.start_soon(_make, client, call)
            if name != PLAYED[-1]:
                await client.call_tool("submit", {"answer": task.answer})
        await anyio.to_thread.run_sync(take, f"{url}/", PICTURES / "live.png", (1200, 760), program)


async def _make(client: Client, call: ReferenceCall) -> None:
    await client.call_tool(expose(call.tool), json.loads(json.dumps(call.arguments)))


def main() -> None:
    """Take all of them."""
    library = Library()
    (name, *_) = library.task(TASK).pictures
    small = shrunk(name, library.picture(name), SIDE)
    assert small is not None
    (PICTURES / "task.jpg").write_bytes(small)
    program = browser()
    if program is None:
        print("No Chromium is installed: board.png and live.png stay as they are.", file=sys.stderr)
        return
    with TemporaryDirectory() as folder:
        board(program, Path(folder) / "board")
        live(program, Path(folder) / "live")


if __name__ == "__main__":
    main()
