"""`m3bench judge`: models rate recorded runs; what they say stands beside the score cards."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Data, Json, StoreAt, place_of

if TYPE_CHECKING:
    from m3bench.server.lab.judges.asks import Name
    from m3bench.server.lab.judges.cases import Case
    from m3bench.server.lab.judges.record import Usage, Vote
    from m3bench.server.lab.judges.session import JudgingSession
    from m3bench.server.lab.judges.summary import Judged

MODELS = "openai/gpt-5,anthropic/claude-sonnet-4-5,google/gemini-2.5-pro,grok/grok-4"
MODE = "m3bench"


def judge(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUNS", help="Handles, `latest`, or folders of result sets or runs.")
    ],
    models: Annotated[
        str, typer.Option(envvar="M3BENCH_JUDGES", help="The judges, as Inspect names models, separated by commas.")
    ] = MODELS,
    mode: Annotated[
        str,
        typer.Option(
            help="What is asked together: m3bench (our three questions), or a paper's questions: m3-bench, mcp-bench, "
            "mcpverse, tobench (how what a run left looks)."
        ),
    ] = MODE,
    what: Annotated[
        str, typer.Option(help="The questions by name, separated by commas; those of --mode when left out.")
    ] = "",
    text_only: Annotated[
        str, typer.Option(help="Judges that are shown no pictures, separated by commas; or all.")
    ] = "",
    tasks: Annotated[
        Path | None, typer.Option(help="Folder with the set of tasks of the runs; the bundled set when left out.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Questions to ask at the same time.")] = 4,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one question, including all attempts.")] = 180,
    resume: Annotated[bool, typer.Option("--resume", help="Keep existing votes; ask only for the rest.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be asked; with --json, every prompt.")
    ] = False,
    data: Data = None,
    store: StoreAt = None,
    json: Json = False,
) -> None:
    """Let models judge runs: task completion, information grounding and a rubric of six criteria, or as a paper does.

    Of four judges the highest and the lowest value are dropped and the other two averaged; with fewer, the output says
    what was done. Every prompt and reply is kept in judges/RUN.json next to the record of runs. Score cards do not
    change: judges are reported separately, with how far they agree.

    Models are reached through Inspect, the extra `agents`, which reads their keys from the environment.
    """
    from m3bench.server.lab.judges.cases import find_cases
    from m3bench.tasks.library import BUNDLED, Library

    panel, asked = _models(models), _what(what or _mode(mode))
    blind = frozenset(panel if text_only == "all" else _text_only(text_only, panel))
    cases = find_cases(runs, place_of(data, store), Library(tasks or BUNDLED))
    if dry_run:
        _show_plan(cases, panel, asked, blind, json)
        return
    entries = _sit(cases, panel, asked, blind, parallel=parallel, timeout=timeout, resume=resume)
    _report(entries, cases, json)
    if not any(panel.values for entry in entries for panel in entry.panels.values()):
        raise typer.Exit(1)


def _models(text: str) -> list[str]:
    from m3bench.tasks.errors import UserError

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError("--models names no model: give some as Inspect names them, such as openai/gpt-5.")
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise UserError(f"--models names {', '.join(twice)} more than once: a panel needs different judges.")
    return names


def _mode(name: str) -> str:
    from m3bench.server.lab.judges.asks import MODES
    from m3bench.tasks.errors import UserError

    if name not in MODES:
        raise UserError(f"There is no mode {name!r} of judging: choose {', '.join(MODES)}.")
    return ",".join(MODES[name])


def _what(text: str) -> "tuple[Name, ...]":
    from m3bench.server.lab.judges.asks import NAMES
    from m3bench.tasks.errors import UserError

    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown = sorted(names - set(NAMES))
    if unknown or not names:
        raise UserError(f"--what cannot be {', '.join(unknown) or 'empty'}: choose from {', '.join(NAMES)}.")
    return tuple(name for name in NAMES if name in names)


def _text_only(text: str, panel: list[str]) -> list[str]:
    from m3bench.tasks.errors import UserError

    names = [name.strip() for name in text.split(",") if name.strip()]
    strange = [name for name in names if name not in panel]
    if strange:
        raise UserError(f"--text-only names {', '.join(strange)}, which --models does not.")
    return names


def _sit(
    cases: "list[Case]",
    panel: list[str],
    asked: "tuple[Name, ...]",
    blind: frozenset[str],
    *,
    parallel: int,
    timeout: float,
    resume: bool,
) -> "list[Judged]":
    from m3bench.server.lab.judges.judge import opened
    from m3bench.server.lab.judges.session import JudgingSession
    from m3bench.server.lab.judges.summary import judged
    from m3bench.server.serving import interrupts
    from m3bench.tasks.errors import UserError

    sessions: list[JudgingSession] = []

    async def main() -> None:
        async with opened(panel, text_only=blind, seconds=timeout) as judges:
            for one in judges:
                if one.model is None:
                    _say(f"judge {one.name} is left out: {one.problem}")
            if not any(one.model for one in judges):
                raise UserError("No judge can be asked: set the keys of their providers, or name others with --models.")
            sessions.append(JudgingSession(cases=cases, judges=judges, what=asked, resume=resume))
            await _watched(sessions[0], parallel)

    try:
        interrupts.run(main)
    except KeyboardInterrupt:
        _say("interrupted: the votes given so far are kept, and the same command with --resume goes on.")
        raise typer.Exit(130) from None
    return [judged(sessions[0].judgement(case), case.row, case.outcomes) for case in cases]


async def _watched(session: "JudgingSession", parallel: int) -> None:
    """Run a session and say on standard error how far it is and what it took so far."""
    from m3bench.server.commands.screen import counter
    from m3bench.server.lab.judges.record import Usage

    left = Counter(question.case.run.id for question in session.questions)
    total, used, done = len(session.questions), Usage(), 0
    if session.kept:
        _say(f"{session.kept} votes are there already; {total} are left to ask for.")
    with counter(total, "Judging") as step:

        def told(case: "Case", vote: "Vote") -> None:
            nonlocal used, done
            used += vote.usage
            done += 1
            left[case.run.id] -= 1
            step(_took(used))
            if not left[case.run.id] and not sys.stderr.isatty():
                _say(f"{case.task.id} is judged: {done} of {total} votes, {_took(used)}")

        await session.run(parallel, told)


def _took(used: "Usage") -> str:
    cost = "" if used.cost is None else f", ${used.cost:.2f}"
    return f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out{cost}"


def _show_plan(
    cases: "list[Case]", panel: list[str], asked: "tuple[Name, ...]", blind: frozenset[str], json: bool
) -> None:
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.lab.judges.judge import Judge
    from m3bench.server.lab.judges.session import JudgingSession

    judges = [Judge(name=name, sighted=name not in blind) for name in panel]
    session = JudgingSession(cases=cases, judges=judges, what=asked)
    questions = [question for question in session.questions if not question.unasked]
    if json:
        prompts = [
            {"run": one.case.run.id, "task": one.case.task.id, "ask": one.ask.name, "shuffle": one.ask.shuffle,
             "judge": one.judge.name, "system": one.prompt.system, "user": one.prompt.user,
             "pictures": [picture.name for picture in one.prompt.pictures]}
            for one in questions
        ]  # fmt: skip
        print_json({"questions": prompts})
        return
    characters = sum(len(one.prompt.system) + len(one.prompt.user) for one in questions)
    pictures = sum(len(one.prompt.pictures) for one in questions)
    counts = ((len(cases), "run"), (len(panel), "judge"), (len(questions), "question"))
    what = ", ".join(f"{number} {thing}{'' if number == 1 else 's'}" for number, thing in counts)
    console().print(
        f"{what}: {characters:,} characters and {pictures} pictures to send. Nobody was asked.",
        soft_wrap=True,
    )


def _report(entries: "list[Judged]", cases: "list[Case]", json: bool) -> None:
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.lab.judges.summary import overall

    numbers = overall(entries)
    own = sorted({case.agent for case in cases} & {name for entry in entries for name in _judges(entry)})
    for name in own:
        _say(f"{name} judges its own runs: models favour what they wrote themselves.")
    if json:
        print_json({"runs": [entry.to_json() for entry in entries], "overall": numbers})
        return
    from m3bench.server.lab.judges.record import Usage
    from m3bench.server.lab.judges.tables import show

    show(console(), entries, numbers)
    _say(f"judging these runs took {_took(Usage(**numbers['usage']))} in all.")


def _judges(entry: "Judged") -> set[str]:
    return {name for panel in entry.panels.values() for name in panel.asked}


def _say(message: str) -> None:
    print(f"m3bench: {message}", file=sys.stderr, flush=True)
