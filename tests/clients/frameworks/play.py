"""Has a framework play: `python play.py PLAYER URL PROMPT SERVER`, in an environment that has the framework.

PLAYER is a file of `players/` with a function `play(url, prompt, server)`, which gives what the agent said at the end.
URL is the model's address; SERVER, as JSON, is the command that starts m3bench or its address.
"""

import asyncio
import inspect
import json
import runpy
import sys


def main(player: str, url: str, prompt: str, server: str) -> None:
    """Play, and print what the agent said."""
    said = runpy.run_path(player)["play"](url, prompt, json.loads(server))
    print(asyncio.run(said) if inspect.iscoroutine(said) else said)


if __name__ == "__main__":
    main(*sys.argv[1:])
