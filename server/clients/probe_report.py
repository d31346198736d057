"""The result of a probe as a file that a person can hand on: what was found of a client, and the last run it played.

It holds no path, no answer and no name of a person: the client, its capability card, and the score of one run.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from m3bench.server.clients.table import by_client_info
from m3bench.server.scorecard.migration import card_of
from m3bench.server.store.capability import CapabilityCard
from m3bench.server.store.layout import database
from m3bench.server.store.sqlite import SqliteStore

SCHEMA = 1


def report(data: Path, probed: CapabilityCard, version: str) -> dict[str, Any]:
    """The report on one client.

    Args:
        data: The data folder.
        probed: The client's capability card.
        version: Our own version.
    """
    name, release = probed["client"]["name"], probed["client"]["version"]
    known = by_client_info(name)
    return {
        "schema": SCHEMA,
        "m3bench": version,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "client": {"name": name, "version": release, "title": known.title if known is not None else None},
        "probe": {
            "taken": probed["taken"],
            "complete": probed["complete"],
            "transport": probed["setup"]["transport"],
            "profile": probed["setup"]["profile"],
            "facts": probed["facts"],
        },
        "run": _run(data, f"{name} {release}"),
    }


def _run(data: Path, client: str) -> dict[str, object] | None:
    """The last run that this client played to the end; None when there is none."""
    if not database(data).exists():
        return None
    store = SqliteStore(data)
    try:
        for record in store.runs():
            card = card_of(record)
            if card is None or card.void is not None or card.client is None or card.client.name != client:
                continue
            return {
                "task": record.task,
                "profile": record.setup.profile,
                "solved": card.success,
                "average": card.average,
                "range": list(card.range_of("average")),
                "calls": len(card.alignment.actual_calls),
            }
    finally:
        store.close()
    return None
