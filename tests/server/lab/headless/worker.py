"""Runs several command lines of m3bench in one process in which no name can be looked up.

Reads a list of them from standard input, each with a script to write before, and prints what became of each.
"""

import contextlib
import io
import json
import socket
import sys
from pathlib import Path
from typing import Any

from m3bench.server.cli import main


def _refused(*names: object, **_: object) -> None:
    raise OSError(f"{names[0]} was to be looked up")


def _run(entry: dict[str, Any]) -> dict[str, Any]:
    Path(entry["script"]).write_text(json.dumps(entry["content"]))
    sys.argv = ["m3bench", *entry["arguments"]]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
    return {"code": code, "stderr": errors.getvalue()}


if __name__ == "__main__":
    socket.getaddrinfo = _refused  # type: ignore[assignment]
    json.dump([_run(entry) for entry in json.load(sys.stdin)], sys.stdout)
