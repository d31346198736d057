"""What somebody tries who has read the source: changes to honest bundles, each with the level it may reach at most.

Nothing here shares code with `test_forgeries`, but for packing and for computing again what can be computed: who looks
for holes in a verifier should not look where its authors looked.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.verdict import Level
from m3bench.server.runs.attestation import merkle
from m3bench.server.runs.attestation.keys import SigningKey
from m3bench.server.runs.attestation.statements import Envelope, state_run, state_tally
from m3bench.server.scoring import Encoder
from m3bench.server.store.records import RunRecord
from tests.server.lab.interchange.tampering import Members, card_of, change_json, change_lines, put_value, run_of

PADDING = 60
"""Honest calls that hide one that is not: the share that must be made again is 95 %."""

STEP = 3_000_017
GHOST = "f" * 40
NEW = "a" * 40


Served = Callable[[Mapping[str, Any]], tuple[Any, dict[str, Any]]]
"""Gives the seat and the manifest of a run as a server here would."""


class Attack(NamedTuple):
    """A change to a bundle, and how far it may get."""

    change: Callable[[Members], None]
    most: Level
    """The level that it may reach at most."""
    says: str = ""
    """What the verdict must say of it."""
    claimed: bool = True
    """Whether scores and claims are computed again afterwards."""
    sealed: bool = False
    """Whether seals are as well; what was signed shows that, so that a careful forger leaves them alone."""


def text(words: str, **more: Any) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": words}], **more}).encode()


def agents(calls: list[Any]) -> list[Any]:
    return [call for call in calls if "/" in call["tool"]]


def set_each(calls: list[Any], **fields: Any) -> None:
    for call in calls:
        call.update(fields)


def of_run(members: Members, task: str, change: Callable[[list[Any]], None]) -> None:
    change_lines(members, f"{run_of(members, task)}/calls.jsonl", change)


def pad(members: Members, task: str = "sum-1", count: int = PADDING) -> None:
    """The last call of a run again and again: whoever makes it again gets what is claimed."""

    def change(calls: list[Any]) -> None:
        last = calls.index(agents(calls)[-1])
        more = [dict(calls[last]) for _ in range(count)]
        calls[last + 1 : last + 1] = more
        for number, call in enumerate(calls[last + 1 :], 1):
            call["id"] = calls[last]["id"] + 5000 + number
            by = min(number, count) * STEP + number**2
            for name in ("received_ns", "forwarded_ns", "returned_ns", "sent_ns"):
                call[name] = call[name] and call[name] + by
            # No two of them take equally long.
            for name in ("returned_ns", "sent_ns"):
                call[name] = call[name] and call[name] + number * 7

    of_run(members, task, change)


def padded(change: Callable[[Members], None]) -> Callable[[Members], None]:
    def both(members: Members) -> None:
        pad(members)
        change(members)

    return both


def first_call(**fields: Any) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        given = {name: put_value(members, to) if isinstance(to, bytes) else to for name, to in fields.items()}
        of_run(members, "survey-1", lambda calls: agents(calls)[0].update(given))

    return change


def manifest(**fields: Any) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        for task in ("survey-1", "sum-1"):
            change_json(members, f"{run_of(members, task)}/run.json", lambda run: run["manifest"].update(fields))

    return change


def header(**fields: Any) -> Callable[[Members], None]:
    return lambda members: change_json(members, "set.json", lambda found: found.update(fields))


def sample(task: str, /, **fields: Any) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        change_lines(members, "samples.jsonl", lambda lines: _of(lines, task).update(fields))

    return change


def _of(lines: list[Any], task: str) -> Any:
    return next(line for line in lines if line["task"] == task)


def together(*changes: Callable[[Members], None]) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        for one in changes:
            one(members)

    return change


def dropped(members: Members, task: str = "survey-1") -> None:
    """Take a run out, with everything of it."""
    place = run_of(members, task)
    for name in list(members):
        if name.startswith(f"{place}/"):
            del members[name]


def everywhere(served: Served, **fields: Any) -> Callable[[Members], None]:
    """Manifests of another profile, as a server here would write them."""

    def change(members: Members) -> None:
        for task in ("survey-1", "sum-1"):

            def state(run: Any) -> None:
                kept = {name: run["manifest"][name] for name in ("limits", "mark", "budget") if name in run["manifest"]}
                _, made = served({**run["manifest"], **fields})
                run["manifest"] = {**json.loads(json.dumps(made)), **kept}

            change_json(members, f"{run_of(members, task)}/run.json", state)
        header(profile=fields["profile"])(members)

    return change


def made_file(members: Members) -> None:
    """A call that writes a file is said to be cut off, and the file has what the forger likes."""

    def change(calls: list[Any]) -> None:
        call = agents(calls)[0]
        message = json.loads(members[f"values/{call['request']}"])
        message["params"] = {"name": "excel__create_workbook", "arguments": {"filepath": "answer.xlsx"}}
        call.update(
            tool="excel/create_workbook", request=put_value(members, json.dumps(message).encode()), outcome="failed",
            owner="client", result=None, error=[-32800, "cut off: the client cancelled or went away"],
            returned_ns=None,
        )  # fmt: skip

    of_run(members, "survey-1", change)
    wanted = {"path": "answer.xlsx", "value": put_value(members, b"108"), "changed_ns": 1}
    change_lines(members, f"{run_of(members, 'survey-1')}/files.jsonl", lambda files: files.append(wanted))


def no_own_calls(members: Members) -> None:
    """An answer that nobody is seen to hand in."""
    of_run(members, "survey-1", lambda calls: calls.__setitem__(slice(None), agents(calls)))


def hidden_in_own(members: Members) -> None:
    """A call that went wrong is said to have been one of the benchmark's own tools."""
    of_run(members, "survey-1", lambda calls: agents(calls)[0].update(tool="list_tasks"))


def ghost_run(members: Members) -> None:
    """Two samples of one run."""
    change_lines(members, "samples.jsonl", lambda lines: lines.append({**_of(lines, "sum-1"), "repeat": 2}))
    header(repeats=2)(members)


def void_of_the_bad(members: Members) -> None:
    """The bad run stays, and its log is made to show a fault."""
    sample("survey-1", state="void", fault="sandbox", reason="the sandbox died")(members)
    of_run(members, "survey-1", lambda calls: agents(calls)[0].update(owner="sandbox", outcome="failed"))


def probed(members: Members, installation: LocalInstallation, encoder: Encoder, folder: Path) -> None:
    """What a probe is said to have found decides how calls are read as steps; the cards are right by it."""
    for task in ("survey-1", "sum-1"):
        place = run_of(members, task)
        card = json.loads(members[f"{place}/card.json"])
        version = card["client"]["name"].rpartition(" ")[2]
        known = {"probed": version, "overlap": "together", "overlap_others": "together"}
        made = card_of(members, place, installation, encoder, folder, known)
        members[f"{place}/card.json"] = json.dumps(made).encode()


def _nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def deep_request(members: Members) -> None:
    first_call(request=b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + _nested(200_000) + b"}")(members)


def answer(words: str) -> Callable[[Members], None]:
    def change(members: Members) -> None:
        place = run_of(members, "survey-1")
        change_json(members, f"{place}/run.json", lambda run: run.update(answer=words))
        no_own_calls(members)

    return change


def unsigned(served: Served) -> Mapping[str, Attack]:
    """Twenty-four attacks on a bundle that nobody signed; sums, seals, cards and claims are right again afterwards."""
    event = manifest(event={"name": "x"})
    return {
        "an invented result of a call that is said to be cut off": Attack(
            padded(first_call(owner="client", result=text("2.5"))), "consistent"
        ),
        "an invented result in the words of an event that is shut": Attack(
            padded(together(event, first_call(owner="limit", result=text("The event says: 2.5")))), "consistent"
        ),
        "an invented result before the time was over": Attack(
            padded(first_call(owner="limit", result=text("This run has used its 60 minutes: submit what you have."))),
            "consistent",
        ),
        "an invented file of a call that is said to be cut off": Attack(
            padded(together(everywhere(served, profile="full"), made_file)), "consistent", "answer.xlsx"
        ),
        "an invented result of a call that is under way": Attack(
            padded(first_call(outcome=None, result=text("2.5"))), "consistent"
        ),
        "a task that is not of this set": Attack(
            together(sample("sum-1", task="survey-1", repeat=2), header(repeats=2)), "refuted", "task"
        ),
        "a bad run without a seal, called void": Attack(seal_taken, "replayed", "count as not solved"),
        "a result that was given before it was asked for": Attack(
            padded(first_call(forwarded_ns=1)), "refuted", "times"
        ),
        "an owner that there is not": Attack(padded(first_call(owner="nobody", result=text("2.5"))), "consistent"),
        "an outcome that there is not": Attack(padded(first_call(outcome="wonderful")), "refuted"),
        "a result of a call that the world does not hold": Attack(
            padded(first_call(owner="world", outcome="success", result=text("2.5"))), "refuted"
        ),
        "the result in another spelling": Attack(first_call(result=text("15.5 ")), "refuted"),
        "a call that went wrong as one of our own": Attack(hidden_in_own, "refuted", ": tool"),
        "an answer that nobody handed in": Attack(no_own_calls, "replayed"),
        "two samples of one run": Attack(ghost_run, "refuted", "another sample's run"),
        "a task planned twice": Attack(header(tasks=["sum-1", "sum-1", "survey-1"]), "replayed"),
        "more tasks than there are": Attack(header(tasks=["sum-1", "survey-1", "ghost-1"]), "replayed"),
        "a bad run with a fault of the sandbox": Attack(void_of_the_bad, "replayed", "void"),
        "costs that are no number": Attack(
            sample("sum-1", usage={"input_tokens": 10**30, "output_tokens": -5, "cost": 1e400}), "replayed"
        ),
        "a name of markup": Attack(header(name="<script>alert(1)</script>", agent='"><img src=x>'), "replayed"),
        "a name that leads elsewhere": Attack(header(name="../../index", agent="/etc/passwd"), "replayed"),
        "options as large as a book": Attack(header(options={"x": ["y" * 1000] * 5000}), "replayed"),
        "limits that no server has": Attack(manifest(limits={"calls": 1e400, "minutes": -1}), "replayed"),
        "a request that is too deep": Attack(padded(deep_request), "consistent"),
    }


class SigningHouse(NamedTuple):
    """What the tests of signed bundles sign with, as the server did."""

    key: SigningKey
    lines: list[bytes]
    runs: list[RunRecord]


def tally(house: SigningHouse, *more: RunRecord, seat: str | None = None) -> Callable[[Members], None]:
    """What the server had signed, had it also started these runs."""
    made = state_tally(house.key, [*house.runs, *more], house.lines, seat).model_dump(mode="json")
    return lambda members: change_json(members, "attestations.json", lambda found: found.update(tally=made))


def lost_run(house: SigningHouse, task: str) -> RunRecord:
    """A run that the server recorded as void."""
    return replace(house.runs[0], id=GHOST, task=task, state="void", seal=None, scorecard=None, answer=None)


def void(task: str, run: str | None = GHOST, repeat: int = 1) -> dict[str, Any]:
    return {"task": task, "repeat": repeat, "state": "void", "run": run, "fault": "sandbox", "reason": "outage"}


def without(members: Members, task: str, *instead: dict[str, Any]) -> None:
    dropped(members, task)

    def change(lines: list[Any]) -> None:
        lines[:] = [*(line for line in lines if line["task"] != task), *instead]

    change_lines(members, "samples.jsonl", change)


def owner_changed(members: Members) -> None:
    """The bad run is there, sealed and signed; whose fault a call was is another's now."""
    sample("survey-1", state="void", fault="sandbox", reason="the sandbox died")(members)
    of_run(members, "survey-1", lambda calls: agents(calls)[0].update(owner="sandbox"))


def seal_taken(members: Members) -> None:
    void_of_the_bad(members)
    change_json(members, f"{run_of(members, 'survey-1')}/run.json", lambda run: run.update(seal=None))


def resigned_by_another(stranger: SigningKey) -> Callable[[Members], None]:
    """Everything signed again by another key, which says that it is the one that is trusted."""

    def change(members: Members) -> None:
        def again(found: Any) -> None:
            for one in (found["tally"], *(proof["envelope"] for proof in found["runs"].values())):
                payload = b64decode(one["payload"])
                kind = one["payloadType"].encode()
                message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
                one["signatures"][0]["sig"] = b64encode(stranger.sign(message)).decode()

        change_json(members, "attestations.json", again)

    return change


def signatures(change: Callable[[Any], None]) -> Callable[[Members], None]:
    return lambda members: change_json(members, "attestations.json", change)


def _envelopes(found: Any) -> list[Any]:
    return [found["tally"], *(proof["envelope"] for proof in found["runs"].values())]


def malleable(found: Any) -> None:
    """The same signature plus the order of the group, which a careless check takes as well."""
    order = 2**252 + 27742317777372353535851937790883648493
    for one in _envelopes(found):
        raw = b64decode(one["signatures"][0]["sig"])
        number = int.from_bytes(raw[32:], "little") + order
        one["signatures"][0]["sig"] = b64encode(raw[:32] + number.to_bytes(32, "little")).decode()


def no_signatures(found: Any) -> None:
    for one in _envelopes(found):
        one["signatures"] = []


def spaced(found: Any) -> None:
    for one in _envelopes(found):
        one["payload"] = b64encode(b64decode(one["payload"]).replace(b'":', b'": ')).decode()


def far_places(found: Any) -> None:
    for proof in found["runs"].values():
        proof.update(index=2**70, path=["00" * 32] * 3000)


def another_log(house: SigningHouse) -> Callable[[Members], None]:
    """A run that the same key signed in another log."""

    def change(members: Members) -> None:
        place = run_of(members, "survey-1").removeprefix("runs/")
        record = next(run for run in house.runs if run.id == place)
        envelope = state_run(house.key, record, [], {}, {"started": 1})
        proof = {"envelope": envelope.model_dump(mode="json"), "index": 0, "path": []}
        assert merkle.leads_to(Envelope.model_validate(proof["envelope"]).line, 0, 1, []) is not None
        signatures(lambda found: found["runs"].update({place: proof}))(members)

    return change


def abandoned_as_scored(house: SigningHouse) -> Callable[[Members], None]:
    """A run that was given up, with an answer and a seal that were made for it afterwards."""

    def change(members: Members) -> None:
        place = run_of(members, "survey-1")
        for name in list(members):
            if name.startswith(f"{place}/"):
                members[name.replace(place, f"runs/{NEW}")] = members.pop(name)
        change_json(members, f"runs/{NEW}/run.json", lambda run: run.update(id=NEW))
        of_run(members, "survey-1", lambda calls: set_each(calls, run=NEW))
        sample("survey-1", run=NEW)(members)
        tally(house, replace(house.runs[0], id=NEW, task="survey-1", state="abandoned", seal=None))(members)

    return change


def better_card(members: Members) -> None:
    """Cards are not signed: what stands there must follow from what is."""
    for task in ("survey-1", "sum-1"):
        change_json(members, f"{run_of(members, task)}/card.json", lambda card: card.update(success=True, calls=1))


def another_client(members: Members) -> None:
    of_run(members, "survey-1", lambda calls: set_each(calls, client="wonder 1.0"))


def signed_attacks(house: SigningHouse, stranger: SigningKey) -> Mapping[str, Attack]:
    """Fifteen attacks on a bundle that a trusted key signed; the sums that need no key are right again afterwards."""
    return {
        "whose fault a call was, in a run that is called void": Attack(owner_changed, "refuted"),
        "a run without its seal that is called void": Attack(seal_taken, "refuted"),
        "one void run for two tasks": Attack(
            together(
                tally(house, lost_run(house, "sum-1")), lambda members: without(members, "survey-1", void("survey-1"))
            ),
            "refuted",
        ),
        "one void run for many attempts": Attack(
            together(
                tally(house, lost_run(house, "sum-1")),
                header(repeats=4),
                lambda members: without(members, "survey-1", *(void("sum-1", repeat=number) for number in (2, 3, 4))),
            ),
            "refuted",
        ),
        "a void run that no one started": Attack(
            lambda members: without(members, "survey-1", void("survey-1")), "attested", "not here"
        ),
        "signatures of another key under this one's name": Attack(resigned_by_another(stranger), "refuted", "tally"),
        "signatures that a careless check takes": Attack(signatures(malleable), "refuted", "tally"),
        "envelopes without a signature": Attack(signatures(no_signatures), "refuted", "tally"),
        "statements in another spelling": Attack(signatures(spaced), "refuted", "tally"),
        "places far beyond the log": Attack(signatures(far_places), "refuted", "place in the server's log"),
        "a statement of another log": Attack(another_log(house), "refuted", "signed log"),
        "a run that was given up, handed in later": Attack(
            abandoned_as_scored(house), "refuted", "signature", sealed=True
        ),
        "the tally of somebody else": Attack(tally(house, seat="s" * 32), "refuted", "seat"),
        "a card that says more than its log": Attack(better_card, "refuted", "score card", claimed=False),
        "another client under the same log": Attack(another_client, "refuted", "signed client", sealed=True),
    }
