"""The calls of a run that outlived its server, as if there had been no restart.

A call that the server cut off by ending is nobody's fault, and whoever makes it again has lost nothing: the second one
takes the place of the first. One that nobody made again stays lost. And a machine that was started anew counts its time
from zero again. Nothing is changed in a run that one server saw to its end.
"""

from collections.abc import Sequence
from dataclasses import replace

from m3bench.proxy.call import CUT_OFF
from m3bench.server.store.records import CallRecord

SLACK_NS = 1_000_000_000
"""Calls that come at the same time may be numbered in another order than they arrived in, by no more than this."""


def without_restarts(records: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls of a run, on one clock, without those that were cut off and made again.

    Args:
        records: In order of arrival.
    """
    calls = _on_one_clock(records)
    if all(call.error != CUT_OFF for call in calls):
        return calls
    taken: dict[int, CallRecord] = {}
    for place, lost in enumerate(calls):
        if lost.error == CUT_OFF:
            for later in range(place + 1, len(calls)):
                again = calls[later]
                if later not in taken and (again.tool, again.arguments) == (lost.tool, lost.arguments):
                    if again.error != CUT_OFF:
                        taken[later] = lost
                    break
    found: list[CallRecord] = []
    again_of = {lost.id: calls[later] for later, lost in taken.items()}
    for place, call in enumerate(calls):
        if call.id in again_of:
            again = again_of[call.id]
            found.append(_shifted(again, call.received_ns - again.received_ns))
        elif place not in taken:
            found.append(call)
    return found


def _on_one_clock(records: Sequence[CallRecord]) -> list[CallRecord]:
    calls: list[CallRecord] = []
    offset = latest = end = 0
    for record in records:
        if record.received_ns + offset < latest - SLACK_NS:
            offset = end + 1 - record.received_ns
        call = _shifted(record, offset)
        latest = max(latest, call.received_ns)
        end = max(end, call.received_ns, call.returned_ns or 0, call.sent_ns or 0)
        calls.append(call)
    return calls


def _shifted(call: CallRecord, by: int) -> CallRecord:
    if by == 0:
        return call
    return replace(
        call,
        received_ns=call.received_ns + by,
        forwarded_ns=call.forwarded_ns and call.forwarded_ns + by,
        returned_ns=call.returned_ns and call.returned_ns + by,
        sent_ns=call.sent_ns and call.sent_ns + by,
    )
