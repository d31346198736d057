"""Starts the environment for trainers that `serve --openenv` is: episodes over OpenEnv's protocol."""

from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from m3bench.server.lab.training.environment import Environment, EnvironmentOptions
from m3bench.server.lab.training.openenv import OpenEnvServer
from m3bench.server.lab.training.splits import SPLITS, Split
from m3bench.server.serving.transport import address_of, run_alone, serve_asgi
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED


def weights_of(given: Sequence[str]) -> dict[str, float]:
    """Weights from `NAME=NUMBER`.

    Raises:
        UserError: One is not of that form.
    """
    found: dict[str, float] = {}
    for text in given:
        name, _, number = text.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            raise UserError(f"--reward cannot be {text!r}: write PART=WEIGHT, such as shaping=0.5.") from None
    return found


def split_named(name: str) -> Split:
    """A split by name.

    Raises:
        UserError: There is none of that name.
    """
    for split in SPLITS:
        if split == name:
            return split
    raise UserError(f"There is no split {name!r}: choose from {', '.join(SPLITS)}.")


def serve_openenv(settings: Settings, address: str, split: str, reward: Sequence[str]) -> None:
    """Serve episodes until a signal says stop."""
    if settings.ranked or settings.seed is not None or settings.sandbox == "docker":
        raise UserError(
            "--openenv plays a set in a folder in sandboxes of this machine: leave --ranked, --seed and --sandbox "
            "docker out, and make a set with m3bench tasks generate."
        )
    options = EnvironmentOptions(
        split=split_named(split), weights=weights_of(reward), tools=settings.profile, max_calls=settings.max_calls,
        max_minutes=settings.max_minutes, sandbox="inprocess" if settings.sandbox == "inprocess" else "process",
    )  # fmt: skip
    environment = Environment(settings.tasks or Path(BUNDLED), options)
    listen = address_of(address)

    async def serve() -> None:
        await anyio.to_thread.run_sync(environment.__enter__)
        try:
            await serve_asgi(OpenEnvServer(environment).app, listen, websockets=True)
        finally:
            environment.close()

    run_alone(serve)
