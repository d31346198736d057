"""The pictures of a run as its client is sent them: with the run's mark on a strip below."""

import anyio.to_thread

from m3bench.server.runs.current import Run
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import marked


async def shown_pictures(library: Library, run: Run) -> list[tuple[str, bytes]]:
    """Name and file of each picture; a run of an earlier version has no mark."""

    def drawn() -> list[tuple[str, bytes]]:
        files = [(name, library.picture(name)) for name in run.task.pictures]
        return [(name, marked(file, run.mark) if run.mark else file) for name, file in files]

    return await anyio.to_thread.run_sync(drawn)
