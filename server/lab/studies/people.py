"""A study with people: its plan, an invitation for each person, and what the page notes beside the record.

    name: ceiling
    people: 20
    set: desk
    each: 10
    consent: |
      Your calls and answers are recorded without your name. You may stop at any time.

Who plays what follows from the plan and the number of an invitation alone, and is written down before anything is
played. Links are made from one key, which is in a file of the operator's; what they lead to is in `live.person_page`.
What was played is in the record of runs, as with any client; the journal has what that cannot know: who agreed, when
somebody was at work, and labels. No name or address is in either, unless the plan asks for one.
"""

import hmac
import json
import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from m3bench.server.lab.headless.plan import listed_ids, select
from m3bench.server.lab.results.resultset import DATA, SAMPLES, Header, Sample, write_header
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scoring.statistics.estimates import alpha
from m3bench.server.settings import Settings
from m3bench.server.store.contract import Store
from m3bench.server.store.layout import private_file
from m3bench.server.store.records import RunRecord
from m3bench.tasks.atomic_files import append_line, read_private, write_atomically, write_private
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError, RunError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import owned_by, solvable, tools_of
from m3bench.tasks.yaml_files import read_yaml

INVITATIONS, JOURNAL, LABELS = "invitations.json", "journal.jsonl", "labels.json"

MOST_PEOPLE = 200
"""A server has seats for so many."""

LONGEST = 2000
"""Letters of an answer to a question of the operator's."""

BEAT_SECONDS = 5.0
"""The page says how long somebody was at work no more often than this; more is not written."""

IDLE_SECONDS = 120.0
"""Between two calls, more counts as a break where the page said nothing."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AskedOfPeople(_Part):
    """Something that the operator wants to know of each person."""

    name: str = Field(pattern=r"^\w{1,40}$")
    question: str = Field(min_length=1, max_length=500)
    required: bool = False


class Labelled(_Part):
    """Something that people label: two calls (`first`, `second`), or an answer that was handed in."""

    first: Mapping[str, Any] | None = None
    second: Mapping[str, Any] | None = None
    question: str = ""
    right: str = ""
    """What the task has for right."""
    answer: str = ""
    """What was handed in."""

    @property
    def kind(self) -> Literal["same", "right"]:
        """What is asked: whether the calls are the same, or whether the answer is right."""
        return "same" if self.first is not None else "right"


class PeoplePlan(_Part):
    """A study with people."""

    name: str = Field(default="people", pattern=r"^\w[\w.-]*$")
    folder: Path | None = None
    """Where results go; a folder with the study's name beside the plan when left out."""
    people: int = Field(ge=1, le=MOST_PEOPLE)
    set: str = "m3"
    """The name of a set, or its folder."""
    families: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int | None = Field(default=None, ge=1)
    """Number of tasks, taken from the families in turn."""
    each: int | None = Field(default=None, ge=1)
    """Tasks of each person; all of them when left out."""
    profile: str = "full"
    consent: str = Field(min_length=1, max_length=20_000)
    """What a person agrees to before anything begins."""
    instructions: str = Field(default="", max_length=20_000)
    """In place of those that the page has."""
    ask: tuple[AskedOfPeople, ...] = Field(default=(), max_length=20)
    labels: Path | None = None
    """A JSON file with things to label after the tasks."""
    label: int | None = Field(default=None, ge=1)
    """Things that each person labels; all of them when left out."""
    listen: str = "127.0.0.1:8010"
    url: str | None = Field(default=None, pattern=r"^https?://[^/\s]+$")
    """How people reach the server; where it listens when left out."""
    calls: int = Field(default=200, ge=1)
    """Calls a run may make."""
    minutes: float = Field(default=1440, gt=0)
    """Minutes a run may take, breaks included."""
    sandbox: Literal["process", "docker", "inprocess"] = "process"
    seed: int = 0

    @field_validator("profile")
    @classmethod
    def _for_all(cls, given: str) -> str:
        """A person has one seat for all tasks."""
        if owned_by(given.partition(":")[0]) is not None:
            raise ValueError("one seat plays all tasks: choose full, compact or another profile for all of them")
        return given


class Invitation(_Part):
    """A person who may come."""

    number: int
    seat: str
    tasks: tuple[str, ...]
    labels: tuple[int, ...] = ()


class _Invitations(_Part):
    key: str = Field(min_length=32)
    plan: str
    """Of what the tasks follow from."""
    people: tuple[Invitation, ...]


@dataclass(frozen=True, kw_only=True)
class PersonLine:
    """What became of a person."""

    number: int
    agreed: bool
    tasks: int
    done: int
    labelled: int


def read_people_plan(path: Path) -> PeoplePlan:
    """Read a plan; folders in it are meant from where it lies.

    Raises:
        InputFileError: It cannot be read, or says something that makes no sense.
    """
    plan = read_yaml(path, PeoplePlan, (AskedOfPeople,), what="the plan of a study with people", word="setting")
    here = path.parent
    near = here / Path(plan.set).expanduser()
    return plan.model_copy(
        update={
            "folder": here / (plan.folder.expanduser() if plan.folder is not None else Path(plan.name)),
            "set": str(near) if (near / "tasks.json").is_file() else plan.set,
            "ids": listed_ids(plan.ids, here),
            "labels": None if plan.labels is None else here / plan.labels.expanduser(),
        }
    )


def balanced(names: Sequence[str], people: int, each: int, seed: int) -> list[tuple[str, ...]]:
    """Who plays what, in which order: every task as often as any other, give or take one, and at every place alike.

    One after the other takes the next tasks of a shuffled round; whoever gets the same tasks as somebody before begins
    one task later.
    """
    around = list(names)
    Random(seed).shuffle(around)
    each = min(each, len(around))
    found = []
    for person in range(people):
        begin = person * each
        own = [around[(begin + place) % len(around)] for place in range(each)]
        shift = (begin // len(around)) % each
        found.append((*own[shift:], *own[:shift]))
    return found


class PeopleStudy:
    """A study that is held.

    Args:
        plan: What it is, as read from its file.

    Raises:
        InputFileError: Its files cannot be read, or are those of another plan.
        UserError: No task can be played.
    """

    def __init__(self, plan: PeoplePlan) -> None:
        assert plan.folder is not None
        self.plan = plan
        self.folder = plan.folder
        self.library = Library(Path(plan.set))
        self._things = _things(plan.labels)
        self._known = self._begun()
        self.people = {person.number: person for person in self._known.people}
        self._seats = {person.seat: person for person in self._known.people}
        self._tokens = {_digest(self.token(number)): number for number in self.people}
        self._agreed: set[int] = set()
        self._said: dict[int, dict[str, str]] = defaultdict(dict)
        self._active: dict[tuple[int, str], float] = {}
        path = self.folder / JOURNAL
        if path.exists() and not path.read_bytes().endswith(b"\n"):
            append_line(path, "")  # after a line that was cut off
        for line in self._journal():
            self._remember(line)

    # Who may come

    def token(self, number: int) -> str:
        """What the link of a person has in it, and their page then sends."""
        return self._derived(f"link {number}")

    def cookie(self, number: int) -> str:
        """What stands for the link in their browser."""
        return f"{number}.{self._derived(f'cookie {number}')}"

    def by_token(self, token: str) -> int | None:
        """Whose a link is."""
        # Looking up a hash tells nothing of the tokens, however long it takes.
        return self._tokens.get(_digest(token))

    def by_cookie(self, cookie: str) -> int | None:
        """Whose a cookie is."""
        number = cookie.partition(".")[0]
        held = int(number) if number.isascii() and number.isdigit() and len(number) < 5 else 0
        known = held in self.people and hmac.compare_digest(cookie.encode(errors="replace"), self.cookie(held).encode())
        return held if known else None

    def seat_of(self, number: int) -> str:
        """Where a person sits."""
        return self.people[number].seat

    @property
    def guests(self) -> dict[str, str]:
        """The seat of each person, by the hash of their token."""
        return {_digest(self.token(number)): one.seat for number, one in self.people.items()}

    def tasks_of(self, seat: str) -> tuple[str, ...]:
        """The tasks of a seat, in their order.

        Raises:
            RunError: Whoever sits there has not agreed to take part.
        """
        person = self._seats[seat]
        if person.number not in self._agreed:
            raise RunError("Nothing can be played before you agreed to take part: do so on the page of your link.")
        return person.tasks

    @property
    def hosts(self) -> tuple[str, ...]:
        """The name under which people reach the server, when it is another one than where it listens."""
        return () if self.plan.url is None else (self.plan.url.partition("://")[2],)

    @property
    def settings(self) -> Settings:
        """Of the server that people play on. It is ranked: a task is tried once, and no score is told."""
        plan = self.plan
        return Settings.of(
            data=self.folder / DATA, tasks=Path(plan.set), profile=plan.profile, ranked=True, sandbox=plan.sandbox,
            max_calls=plan.calls, max_minutes=plan.minutes,
        )  # fmt: skip

    # What the page shows and notes

    def document(self, number: int, done: Sequence[str]) -> dict[str, object]:
        """What the page of a person shows beside the tasks; `done` are those handed in."""
        person = self.people[number]
        said = self._said[number]
        return {
            "name": self.plan.name,
            "consent": self.plan.consent,
            "instructions": self.plan.instructions,
            "ask": [asked.model_dump() for asked in self.plan.ask],
            "agreed": number in self._agreed,
            "tasks": len(person.tasks),
            "done": sum(task in done for task in person.tasks),
            "labels": [
                {"id": str(at), "kind": self._things[at].kind, **self._things[at].model_dump()}
                for at in person.labels
                if str(at) not in said
            ],
        }

    def note(self, number: int, message: Mapping[str, Any]) -> None:
        """Write down what the page of a person says.

        Raises:
            UserError: It says something that a page does not say.
        """
        person, line = self.people[number], {"person": number, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        match message:
            case {"agree": Mapping() as answers}:
                if number in self._agreed:
                    return
                line["agree"] = self._answers(answers)
            case {"run": str(run), "seconds": int() | float() as seconds} if len(run) <= 64 and 0 <= seconds < 1e7:
                if not seconds - self._active.get((number, run), -BEAT_SECONDS) >= BEAT_SECONDS:
                    return
                line |= {"run": run, "seconds": round(seconds, 1)}
            case {"label": str(thing), "says": "yes" | "no" | "unsure" as says}:
                if thing not in map(str, person.labels) or thing in self._said[number]:
                    return
                line |= {"label": thing, "says": says}
            case _:
                raise UserError("This is nothing that the page of a study says.")
        if "agree" not in line and number not in self._agreed:
            raise UserError("Agree to take part first.")
        private_file(self.folder / JOURNAL)
        append_line(self.folder / JOURNAL, json.dumps(line, ensure_ascii=False))
        self._remember(line)

    def _answers(self, answers: Mapping[str, Any]) -> dict[str, str]:
        """What a person answered to what was asked, and nothing else."""
        kept = {}
        for asked in self.plan.ask:
            text = str(answers.get(asked.name, "")).strip()[:LONGEST]
            if asked.required and not text:
                raise UserError(f"This needs an answer: {asked.question}")
            if text:
                kept[asked.name] = text
        return kept

    # What comes of it

    def collect(self, store: Store) -> list[Sample]:
        """Write what was played as a result set: whoever has a task as their n-th person is its repeat n."""
        runs = sorted(store.runs(), key=lambda run: (run.started, run.id))
        samples = [
            sample
            for (number, task), repeat in self._repeats.items()
            if (sample := self._sample(store, runs, number, task, repeat)) is not None
        ]
        write_header(self.folder, self._header(runs))
        lines = [json.dumps(sample.model_dump(mode="json"), ensure_ascii=False) for sample in samples]
        write_atomically(self.folder / SAMPLES, "".join(f"{line}\n" for line in lines).encode())
        if self._things:
            self._write_labels()
        return samples

    @cached_property
    def _repeats(self) -> dict[tuple[int, str], int]:
        """By person and task, the how many-th person of the task they are."""
        seen: dict[str, int] = defaultdict(int)
        found = {}
        for person in self._known.people:
            for task in person.tasks:
                seen[task] += 1
                found[person.number, task] = seen[task]
        return found

    def _sample(
        self, store: Store, runs: Sequence[RunRecord], number: int, task: str, repeat: int
    ) -> Sample | None:  # fmt: skip
        seat = self.people[number].seat
        own = [run for run in runs if run.seat == seat and run.task == task]
        scored = next((run for run in own if card_of(run) is not None), None)
        if scored is not None:
            seconds = self._active.get((number, scored.id)) or _at_work(store, scored)
            return Sample(task=task, repeat=repeat, state="scored", run=scored.id, seconds=seconds)
        lost = next((run for run in own if run.state == "void"), None)
        if lost is None:
            return None
        why = store.lost(lost.id) or "it could not go on"
        return Sample(task=task, repeat=repeat, state="void", run=lost.id, fault="proxy", reason=why)

    def _header(self, runs: Sequence[RunRecord]) -> Header:
        tasks = sorted({task for person in self._known.people for task in person.tasks})
        order = {name: place for place, name in enumerate(self.library.tasks)}
        return Header(
            name=self.plan.name, kind="people", agent="people", profile=self.plan.profile,
            repeats=max(self._repeats.values()), tasks=tuple(sorted(tasks, key=lambda task: order.get(task, 0))),
            set_hash=self.library.hash,
            options={"people": len(self.people), "max_calls": self.plan.calls, "sandbox": self.plan.sandbox,
                     "seed": self.plan.seed},
            started=runs[0].started if runs else datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip

    def lines(self, store: Store) -> list[PersonLine]:
        """What became of each person."""
        sealed = {(run.seat, run.task) for run in store.runs() if run.state in ("submitted", "scored")}
        return [
            PersonLine(
                number=number, agreed=number in self._agreed, tasks=len(person.tasks),
                done=sum((person.seat, task) in sealed for task in person.tasks), labelled=len(self._said[number]),
            )
            for number, person in self.people.items()
        ]  # fmt: skip

    def label_agreement(self) -> dict[str, float | None]:
        """Krippendorff's α of the labels, by what was asked; who was unsure takes no part."""
        units: dict[str, list[list[float]]] = {"same": [], "right": []}
        for at, thing in enumerate(self._things):
            said = [self._said[number].get(str(at)) for number in self.people]
            units[thing.kind].append([float(word == "yes") for word in said if word in ("yes", "no")])
        return {kind: alpha(found) for kind, found in units.items() if found}

    def _write_labels(self) -> None:
        """Every label as `m3bench lab thresholds` reads them, and those of answers beside them."""
        same, right = [], []
        for at, thing in enumerate(self._things):
            for number in self.people:
                says = self._said[number].get(str(at))
                if says not in ("yes", "no"):
                    continue
                if thing.kind == "same":
                    same.append({"first": thing.first, "second": thing.second, "same": says == "yes"})
                else:
                    asked = {"question": thing.question, "right": thing.right, "answer": thing.answer}
                    right.append({**asked, "is_right": says == "yes", "person": number})
        for name, labels in ((LABELS, same), (f"answers-{LABELS}", right)):
            if labels:
                text = json.dumps(labels, ensure_ascii=False, indent=1)
                write_atomically(self.folder / name, f"{text}\n".encode())

    # Files

    def _begun(self) -> _Invitations:
        """The invitations of the plan: those that there are, with new ones where it has more people now."""
        names = self._names()
        each = self.plan.each or len(names)
        digest = sha256(json.dumps([names, each, self.plan.seed, self.library.hash]).encode()).hexdigest()
        path = self.folder / INVITATIONS
        known = self._read_invitations(path) if path.exists() else _Invitations(
            key=secrets.token_urlsafe(32), plan=digest, people=()
        )  # fmt: skip
        if known.plan != digest:
            raise InputFileError(path, "is of other tasks: give the study another name, or take back what was changed")
        orders = balanced(names, self.plan.people, each, self.plan.seed)
        things = balanced([str(at) for at in range(len(self._things))], self.plan.people,
                          self.plan.label or len(self._things), self.plan.seed) if self._things else None  # fmt: skip
        added = tuple(
            Invitation(
                number=number, seat=secrets.token_hex(20), tasks=orders[number - 1],
                labels=tuple(map(int, things[number - 1])) if things else (),
            )
            for number in range(len(known.people) + 1, self.plan.people + 1)
        )  # fmt: skip
        if added:
            known = known.model_copy(update={"people": (*known.people, *added)})
            self._write_invitations(path, known)
        return known

    def _names(self) -> list[str]:
        chosen = select(self.library, self.plan.families, self.plan.ids, None)
        tools = tools_of(self.plan.profile, load_catalog().ready, self.library)
        fit = {task.id for task in solvable(tuple(chosen), tools)}
        names = [task.id for task in select(self.library, (), tuple(fit), self.plan.limit)] if fit else []
        if not names:
            raise UserError("No task of this plan can be played with the tools of its profile: take another one.")
        return names

    def _read_invitations(self, path: Path) -> _Invitations:
        try:
            return _Invitations.model_validate_json(read_private(path, "file of invitations"))
        except ValidationError as error:
            raise InputFileError(path, "is not a file of invitations") from error

    @staticmethod
    def _write_invitations(path: Path, known: _Invitations) -> None:
        draft = path.with_name(f".{path.name}.draft")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.unlink(missing_ok=True)
            write_private(draft, known.model_dump_json(indent=1).encode())
            draft.replace(path)
        except OSError as error:
            raise InputFileError(path, f"cannot be written ({error.strerror})") from error

    def _journal(self) -> Iterator[dict[str, Any]]:
        path = self.folder / JOURNAL
        for text in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                yield json.loads(text)
            except ValueError:
                continue  # a line that a kill cut off

    def _remember(self, line: Mapping[str, Any]) -> None:
        number = int(line["person"])
        if "agree" in line:
            self._agreed.add(number)
        elif "label" in line:
            self._said[number][line["label"]] = line["says"]
        else:
            self._active[number, line["run"]] = float(line["seconds"])

    def _derived(self, what: str) -> str:
        return hmac.digest(self._known.key.encode(), what.encode(), "sha256").hex()[:40]


def _digest(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


def _at_work(store: Store, run: RunRecord) -> float:
    """How long somebody was at work by their calls alone, without breaks."""
    stamps = [datetime.fromisoformat(run.started), *(datetime.fromisoformat(call.wall) for call in store.calls(run.id))]
    gaps = ((later - before).total_seconds() for before, later in pairwise(stamps))
    return round(sum(min(gap, IDLE_SECONDS) for gap in gaps if gap > 0), 1)


def _things(path: Path | None) -> tuple[Labelled, ...]:
    if path is None:
        return ()
    try:
        given = json.loads(path.read_text("utf-8"))
        return tuple(Labelled.model_validate(thing) for thing in given)
    except (OSError, ValueError, TypeError) as error:
        raise InputFileError(path, "is no list of things to label: pairs with first and second, or answers") from error
