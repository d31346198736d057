"""Looks at who may sign in over HTTP, where somebody was ever invited."""

from m3bench.server.commands.checks.diagnostics import Diagnostic
from m3bench.server.serving.auth.identity import SCOPES
from m3bench.server.serving.auth.people import People
from m3bench.server.settings import Settings
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import has_sign_ins, open_sign_ins
from m3bench.tasks.errors import M3Error


def check_exposure(settings: Settings) -> list[Diagnostic]:
    """Who may sign in; nothing is said of a record for which nobody was invited."""
    place = RecordLocation(settings.data, settings.store)
    try:
        if not has_sign_ins(place):
            return []
        tables = open_sign_ins(place)
        try:
            people = People(tables).overview()
        finally:
            tables.close()
    except M3Error as error:
        return [Diagnostic(subject="sign-in", state="wrong", says=str(error), need="always")]
    may = ", ".join(f"{scope} {sum(scope in person.scopes.split() for person in people)}" for scope in SCOPES)
    counts = (
        (sum(len(person.invited) for person in people), "invitation that is not used", "invitations that are not used"),
        (sum(len(person.devices) for person in people), "device", "devices"),
        (sum(len(person.apps) for person in people), "client", "clients"),
    )
    open_now = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)
    says = f"With --auth own these may sign in: {may}. Open now: {open_now}. `m3bench people list` names them."
    return [Diagnostic(subject="sign-in", state="ok", says=says, need="always")]
