"""A simulator of how clients put calls on the wire, with the steps known.

A log is a play (what is called in which step, and what the tools answer) sent by a client of some behaviour, with
some time between turns. Everything is seeded. A behaviour says when each call of a step leaves, given when the others
of the step are answered; the steps it belongs to are the truth that segmentation has to find.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from m3bench.proxy.steps.hints import HINT, WAIT
from m3bench.proxy.steps.segmentation import ClientSending, Timed
from tests.proxy.plays import PlayedCall

MS = 1_000_000

Steps = Sequence[Sequence[PlayedCall]]


@dataclass(frozen=True, kw_only=True)
class Log:
    """Calls in order of arrival, and the steps they were issued in."""

    calls: tuple[Timed, ...]
    played: tuple[PlayedCall, ...]
    steps: tuple[int, ...]
    """The step of each call."""
    sending: ClientSending | None = None
    """What a probe of this client has measured."""

    @property
    def true_steps(self) -> tuple[tuple[int, ...], ...]:
        """Indices of calls by step, steps in the order of their first call."""
        found: dict[int, list[int]] = {}
        for index, step in enumerate(self.steps):
            found.setdefault(step, []).append(index)
        return tuple(sorted(map(tuple, found.values())))


@dataclass
class Wire:
    """Where a client puts its calls."""

    rng: random.Random
    slow_ms: tuple[float, float] = (5.0, 900.0)
    """How long tools take."""
    now: int = 0
    sent: list[tuple[Timed, PlayedCall, int]] = field(default_factory=list)

    def call(self, call: PlayedCall, step: int, start: int, **meta: object) -> int:
        """Put a call on the wire at a time; returns when its answer leaves."""
        end = start + round(self.rng.uniform(*self.slow_ms) * MS)
        timed = Timed(
            tool=call.tool, arguments=call.arguments, text=call.text, received_ns=start, sent_ns=end, meta=meta,
            read_only=call.read_only,
        )  # fmt: skip
        self.sent.append((timed, call, step))
        return end

    def log(self) -> Log:
        order = sorted(self.sent, key=lambda one: one[0].received_ns)
        calls, played, steps = zip(*order, strict=True)
        return Log(calls=calls, played=played, steps=steps)


Send = Callable[[Wire, Sequence[PlayedCall], int], None]
"""Sends the calls of a step from `wire.now` on, and sets it to when the last answer has left."""


def together(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """All within some milliseconds."""
    wire.now = max(wire.call(call, step, wire.now + wire.rng.randint(0, 4 * MS)) for call in calls)


def serial(low_ms: int, high_ms: int) -> Send:
    """Each some time after the answer before it."""

    def send(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
        for number, call in enumerate(calls):
            wait = wire.rng.randint(low_ms * MS, high_ms * MS) if number else 0
            wire.now = wire.call(call, step, wire.now + wait)

    return send


def read_only_together(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Neighbouring calls of read-only tools at once, all others one by one."""
    batch: list[PlayedCall] = []
    gap = serial(1, 30)
    for call in calls:
        if call.read_only:
            batch.append(call)
            continue
        if batch:
            together(wire, batch, step)
            wire.now += wire.rng.randint(MS, 30 * MS)
            batch = []
        gap(wire, [call], step)
        wire.now += wire.rng.randint(MS, 30 * MS)
    if batch:
        together(wire, batch, step)


def rolling_pool(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Four at a time; the next leaves when one is answered."""
    ends = [wire.now] * 4
    for call in calls:
        free = min(range(4), key=lambda slot: ends[slot])
        ends[free] = wire.call(call, step, ends[free] + wire.rng.randint(0, 3 * MS))
    wire.now = max(ends)


def batches_of_four(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Four at a time; the next four leave when all are answered."""
    for start in range(0, len(calls), 4):
        wire.now += wire.rng.randint(MS, 20 * MS) if start else 0
        together(wire, calls[start : start + 4], step)


def pairs(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Two at a time; the next two leave when both are answered."""
    for start in range(0, len(calls), 2):
        wire.now += wire.rng.randint(0, 5 * MS) if start else 0
        together(wire, calls[start : start + 2], step)


def approved_once(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """One by one; a person allows each tool for good when it is first called."""
    for number, call in enumerate(calls):
        if all(call.tool != timed.tool for timed, _, _ in wire.sent):
            wire.now += wire.rng.randint(800, 20_000) * MS
        elif number:
            wire.now += wire.rng.randint(0, 5) * MS
        wire.now = wire.call(call, step, wire.now)


def now_this_now_that(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Together or one by one, as it comes."""
    wire.rng.choice((together, serial(1, 60)))(wire, calls, step)


def waiting(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """One by one, and each after the first says that it waited."""
    for number, call in enumerate(calls):
        said = replace(call, arguments={**call.arguments, WAIT: True}) if number else call
        wire.now = wire.call(said, step, wire.now + (wire.rng.randint(1, 40) * MS if number else 0))


def hinted(send: Send) -> Send:
    """Says in every request which step it belongs to."""

    def hinting(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
        before = len(wire.sent)
        send(wire, calls, step)
        wire.sent[before:] = [
            (replace(timed, meta={HINT: f"turn-{number}"}), call, number) for timed, call, number in wire.sent[before:]
        ]

    return hinting


def in_background(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """The first call of a run takes minutes; the client goes on without it after two."""
    if wire.sent:
        together(wire, calls, step)
        return
    first = wire.now
    wire.call(replace(calls[0], text="late"), step, first)
    timed, call, number = wire.sent[0]
    wire.sent[0] = (replace(timed, sent_ns=first + 10**12), call, number)
    if calls[1:]:
        together(wire, calls[1:], step)
    wire.now = first + 121_000 * MS


SENDERS: dict[str, Send] = {
    "together": together,
    "together, tools at once": together,
    "one by one, 1-5 ms": serial(1, 5),
    "one by one, 1-300 ms": serial(1, 300),
    "one by one, approved by a person": serial(800, 20_000),
    "read-only together, others one by one": read_only_together,
    "pool of 4": rolling_pool,
    "batches of 4": batches_of_four,
    "now together, now one by one": now_this_now_that,
    "one by one, saying that it waits": waiting,
    "hints, together": hinted(together),
    "hints, one by one": hinted(serial(1, 60)),
    "a call in the background": in_background,
    "probed, together": together,
    "probed, one by one": serial(1, 60),
    "probed, read-only together": read_only_together,
    "probed, batches of 4": batches_of_four,
}

SENDING = {
    "probed, together": ClientSending(read_only="together", others="together"),
    "probed, batches of 4": ClientSending(read_only="together", others="together"),
    "probed, one by one": ClientSending(read_only="in a row", others="in a row"),
    "probed, read-only together": ClientSending(read_only="together", others="in a row"),
}


@dataclass(frozen=True, kw_only=True)
class Manner:
    """A way of sending the calls of one turn."""

    send: Send
    one_a_turn: bool = False
    """Whether the model itself makes one call a turn."""
    same_as: str = ""
    """What looks the same on the wire: nothing can narrow the range of either."""


def odd_ids(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """All at once, with ids that neither count nor rise."""
    begin = wire.now
    ends = [
        wire.call(call, step, begin + wire.rng.randint(0, 4 * MS), progressToken=f"{wire.rng.getrandbits(64):x}")
        for call in calls
    ]
    wire.now = max(ends)


def in_any_order(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """All at once, but a slow network brings them in any order."""
    shuffled = wire.rng.sample(calls, len(calls))
    wire.now = max(wire.call(call, step, wire.now + wire.rng.randint(0, 200 * MS)) for call in shuffled)


def three_a_second(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Three at a time; a limit has the next three wait for a second."""
    for start in range(0, len(calls), 3):
        wire.now += 1000 * MS if start else 0
        together(wire, calls[start : start + 3], step)


def now_so_now_otherwise(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """In one manner or another, as it comes."""
    wire.rng.choice((together, serial(0, 0), serial(5, 60), read_only_together, pairs, rolling_pool, in_any_order))(
        wire, calls, step
    )


def at_a_pace(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """In a row, with another pause in each turn."""
    pause = round(10 ** wire.rng.uniform(0, 3))
    serial(pause, pause)(wire, calls, step)


def as_written(low_ms: int, high_ms: int) -> Send:
    """Each as soon as the model has written it, whatever is answered by then."""

    def send(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
        written, ends = wire.now, []
        for call in calls:
            ends.append(wire.call(call, step, written))
            written += wire.rng.randint(low_ms, high_ms) * MS
        wire.now = max(ends)

    return send


MANNERS = {
    "all at once": Manner(send=together),
    "all at once, ids odd": Manner(send=odd_ids),
    "in a row, 0 ms": Manner(send=serial(0, 0)),
    "in a row, 5 ms": Manner(send=serial(5, 5)),
    "in a row, 50 ms": Manner(send=serial(50, 50)),
    "reads together, writes in a row": Manner(send=read_only_together),
    "pairs": Manner(send=pairs),
    "pool of 4": Manner(send=rolling_pool),
    "now together, now in a row": Manner(send=now_this_now_that),
    "in a row, each call approved": Manner(send=serial(800, 20_000), same_as="one call a turn"),
    "in a row, each tool approved once": Manner(
        send=approved_once, same_as="in a row, with a turn before each new tool"
    ),
    "one call a turn": Manner(send=together, one_a_turn=True, same_as="in a row, each call approved"),
    "all at once, in any order": Manner(send=in_any_order),
    "three at once, then a second": Manner(send=three_a_second),
    "now so, now otherwise": Manner(send=now_so_now_otherwise),
    "in a row, each turn at its pace": Manner(send=at_a_pace, same_as="one call a turn"),
    "as the model writes them": Manner(send=as_written(300, 2500), same_as="one call a turn"),
}
"""Of a client that nothing is known of."""


def allowed_beside(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """All at once, but a person allows each tool when it is first called, one after the other."""
    latest = wire.now
    allowed = {timed.tool: wire.now for timed, _, _ in wire.sent}
    for call in calls:
        if call.tool not in allowed:
            latest += wire.rng.randint(800, 20_000) * MS
            allowed[call.tool] = latest
    wire.now = max(wire.call(call, step, allowed[call.tool] + wire.rng.randint(0, 4 * MS)) for call in calls)


def each_allowed(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """A person allows one call after the other, whether or not those before it are answered."""
    ends = []
    for call in calls:
        wire.now += wire.rng.randint(800, 6000) * MS
        ends.append(wire.call(call, step, wire.now))
    wire.now = max(ends)


def writing_allowed(wire: Wire, calls: Sequence[PlayedCall], step: int) -> None:
    """Calls of read-only tools at once, and every other one when a person has allowed it."""
    reading = [call for call in calls if call.read_only]
    if reading:
        together(wire, reading, step)
    for call in calls:
        if not call.read_only:
            wire.now = wire.call(call, step, wire.now + wire.rng.randint(800, 20_000) * MS)


ALLOWED = {
    "in a row, each call allowed": Manner(send=serial(800, 20_000)),
    "in a row, each tool allowed once": Manner(send=approved_once),
    "all at once, each tool allowed once": Manner(send=allowed_beside),
    "each call allowed, one beside the other": Manner(send=each_allowed),
    "reads at once, writes allowed": Manner(send=writing_allowed),
    "as the model writes them": Manner(send=as_written(300, 2500)),
    "as a slow model writes them": Manner(send=as_written(800, 6000)),
}
"""How calls go out when a person allows them, or the model still writes, whatever the client does elsewhere."""

LONGEST_PAUSE_MS = 30_000


def play_in(manner: str, steps: Steps, seed: object) -> Log:
    """A log of a client of some manner, with up to half a minute between turns."""
    rng = random.Random(f"{manner} {seed}")
    wire = Wire(rng)

    def pause() -> int:
        return rng.randint(20_000, LONGEST_PAUSE_MS * MS)

    found = {**MANNERS, **ALLOWED}[manner]
    if found.one_a_turn:
        return _one_a_turn(wire, steps, pause, lies=False)
    for number, calls in enumerate(steps):
        found.send(wire, calls, number)
        wire.now += pause()
    return wire.log()


def as_models_write(steps: Steps, seed: object, *, one_a_turn: bool) -> Log:
    """A log of a client that sends each call as soon as its model, slow or fast, has written it."""
    rng = random.Random(f"written {seed} {one_a_turn}")
    wire, number = Wire(rng, (2.0, 60.0)), 0
    each, before = rng.uniform(400, 1800), rng.uniform(800, 3500)
    for calls in [[call] for step in steps for call in step] if one_a_turn else steps:
        written, ends = wire.now + round(before * rng.uniform(0.7, 1.8) * MS), []
        for call in calls:
            written += round(each * rng.uniform(0.6, 1.5) * MS)
            ends.append(wire.call(call, number, written))
        wire.now, number = max(ends), number + 1
    return wire.log()


ONE_A_TURN = ("one call a turn", "one call a turn, false hints")
"""The model itself makes one call a turn: its steps are not those of the play."""

TWO_CHATS = "two chats"

BEHAVIOURS = (*SENDERS, *ONE_A_TURN, TWO_CHATS)

PAUSES_MS = (0, 20, 60, 120, 180, 250, 500)
"""Between turns."""


def simulate(behaviour: str, steps: Steps, seed: object, pause_ms: int | None = None) -> Log:
    """A log of a client that behaves so.

    Args:
        behaviour: One of `BEHAVIOURS`.
        steps: What is called.
        seed: Of the times.
        pause_ms: Between turns; a model that thinks, for half a second to half a minute, when left out.
    """
    rng = random.Random(f"{behaviour} {seed}")
    wire = Wire(rng, (0.05, 3.0) if behaviour == "together, tools at once" else (5.0, 900.0))

    def pause() -> int:
        thinks = int(rng.lognormvariate(8.0, 0.8)) + 400
        # No answer reaches a model, and no call the server, in no time at all.
        return (thinks if pause_ms is None else pause_ms) * MS + rng.randint(20_000, 200_000)

    if behaviour == TWO_CHATS:
        return _two_chats(wire, steps, pause)
    if behaviour in ONE_A_TURN:
        return _one_a_turn(wire, steps, pause, lies=behaviour.endswith("hints"))
    for number, calls in enumerate(steps):
        SENDERS[behaviour](wire, calls, number)
        wire.now += pause()
    return replace(wire.log(), sending=SENDING.get(behaviour))


def _one_a_turn(wire: Wire, steps: Steps, pause: Callable[[], int], lies: bool) -> Log:
    number = 0
    for claimed, calls in enumerate(steps):
        for call in calls:
            wire.now = wire.call(call, number, wire.now, **({HINT: claimed} if lies else {})) + pause()
            number += 1
    return wire.log()


def _two_chats(wire: Wire, steps: Steps, pause: Callable[[], int]) -> Log:
    """Two conversations on one seat, each with its own id, share the steps and work at the same time."""
    for chat in (0, 1):
        wire.now = wire.rng.randint(0, 400 * MS)
        for number in range(chat, len(steps), 2):
            start, meta = wire.now, {"vscode.conversationId": f"chat-{chat}"}
            wire.now = max(
                wire.call(call, number, start + wire.rng.randint(0, 4 * MS), **meta) for call in steps[number]
            )
            wire.now += pause()
    return wire.log()
