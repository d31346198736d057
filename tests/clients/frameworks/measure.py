"""Has every framework play, and writes what was found to `frameworks.json`, and with that the page on clients.

A framework that sends calls together does not always send them so close that they overlap: one that did so once does.
"""

import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from m3bench.server.clients.trial import measured
from m3bench.server.clients.trial.findings import Findings
from tests.clients.frameworks.frameworks import FRAMEWORKS, NotInstalled
from tests.clients.frameworks.playing import TRANSPORTS, played
from tests.clients.real.measure import write_page

ATTEMPTS = 3


def main(names: list[str]) -> None:
    """Measure the frameworks that are named, or all."""
    found = dict(measured.frameworks())
    for name in names or FRAMEWORKS:
        with suppress(NotInstalled):
            print(f"{name} …", file=sys.stderr, flush=True)
            kept = {transport: measured.Measured.of(measure(name, transport)) for transport in TRANSPORTS}
            found[name] = measured.Framework(packages=FRAMEWORKS[name].packages, **kept)
    path = Path(measured.__file__).with_name("frameworks.json")
    path.write_text(measured.written({name: found[name] for name in FRAMEWORKS if name in found}), encoding="utf-8")
    measured.frameworks.cache_clear()
    write_page()


def measure(name: str, transport: str) -> Findings:
    """What was found of a framework over one transport; one that seems to send calls in a row plays again."""
    seen = []
    for _ in range(ATTEMPTS):
        with TemporaryDirectory() as folder:
            seen.append(played(name, transport, Path(folder)))
        print(f"  {transport}: {seen[-1]}", file=sys.stderr, flush=True)
        kinds = {kind: {getattr(found, kind) for found in seen} for kind in ("reading", "writing")}
        if all("together" in ways for ways in kinds.values()):
            break
    best: dict[str, Any] = {kind: "together" for kind, ways in kinds.items() if "together" in ways}
    return replace(seen[-1], **best)


if __name__ == "__main__":
    main(sys.argv[1:])
