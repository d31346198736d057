"""`m3bench lab judge`: models rate recorded runs; what they say stands beside the score cards."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import typer

from m3bench.server.commands.options import Json, RecordOptions, Tasks
from m3bench.server.commands.recorded import records
from m3bench.server.commands.screen import console, counted, counter, print_json
from m3bench.server.lab.judges.cases import Case, find_cases
from m3bench.server.lab.judges.judge import TRIES, Judge, JudgeBudget, opened
from m3bench.server.lab.judges.judgements import JudgeUsage, Vote
from m3bench.server.lab.judges.questions import MODES, NAMES, Name
from m3bench.server.lab.judges.session import JudgingSession
from m3bench.server.lab.judges.summary import JudgedRun, judged, overall
from m3bench.server.lab.judges.tables import show
from m3bench.server.scoring.words import printable
from m3bench.server.serving import interrupts
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library

MODELS = "openai/gpt-5,anthropic/claude-sonnet-4-5,google/gemini-2.5-pro,grok/grok-4"
MODE = "m3bench"


@dataclass(frozen=True, kw_only=True)
class PanelOptions:
    """Who judges, and what is asked."""

    models: Annotated[
        str, typer.Option(envvar="M3BENCH_JUDGES", help="The judges, as Inspect names models, separated by commas.")
    ] = MODELS
    mode: Annotated[
        str,
        typer.Option(
            help="Which questions to ask: m3bench (our three), or a paper's: m3-bench, mcp-bench, mcpverse, "
            "tobench (how a run's files look)."
        ),
    ] = MODE
    questions: Annotated[
        str, typer.Option("--what", help="The questions by name, separated by commas; by default those of --mode.")
    ] = ""
    text_only: Annotated[str, typer.Option(help="Judges that are shown no pictures, separated by commas; or all.")] = ""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """How the judges are asked."""

    parallel: Annotated[int, typer.Option(min=1, metavar="N", help="Questions to ask at the same time.")] = 4
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time for one question, including all attempts.")
    ] = 180
    resume: Annotated[bool, typer.Option("--resume", help="Keep existing votes; ask only for the rest.")] = False
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="The most requests to make, retries included; --dry-run says how many are needed."
        ),
    ] = None
    budget_cost: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="DOLLARS", help="Ask nothing more once this much is spent, where prices are known."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class JudgePanel:
    """Who judges, and what is asked, checked."""

    judges: list[str]
    asked: tuple[Name, ...]
    blind: frozenset[str]
    """Judges that are shown no pictures."""

    @classmethod
    def of(cls, options: PanelOptions) -> "JudgePanel":
        """As a person chose.

        Raises:
            UserError: There is no such question, or a judge is named twice or not at all.
        """
        judges, asked = _models(options.models), _questions(options.questions or _mode(options.mode))
        blind = judges if options.text_only == "all" else _text_only(options.text_only, judges)
        return cls(judges=judges, asked=asked, blind=frozenset(blind))


def judge(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Handles, `latest`, or folders of result sets or runs.")
    ],
    panel_options: PanelOptions,
    asking: AskOptions,
    where: RecordOptions,
    tasks: Tasks = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be asked; with --json, every prompt.")
    ] = False,
    json: Json = False,
) -> None:
    """Let models judge recorded runs.

    \b
    m3bench lab judge latest --dry-run       # how many requests that makes
    m3bench lab judge runs/gpt-5 --models openai/gpt-5,google/gemini-2.5-pro
    m3bench lab judge runs/gpt-5 --budget 500

    They judge task completion, information grounding and a rubric of six criteria, or what a paper asks. Of four judges
    the highest and the lowest value are dropped and the other two averaged; with fewer, the output says what was done.
    Every prompt and reply is kept in judges/RUN.json next to the record of runs. Score cards do not change: judges are
    reported separately, with how far they agree.

    Models are reached through Inspect, the extra `agents`, which reads their keys from the environment. When the budget
    is used up, the votes so far are kept, and --resume goes on.
    """
    panel = JudgePanel.of(panel_options)
    with records(where) as found:
        cases = find_cases(runs, found, Library(tasks or BUNDLED))
    if dry_run:
        _show_plan(cases, panel, json, resume=asking.resume)
        return
    entries = _sit(cases, panel, asking)
    _report(entries, cases, json)
    if not any(votes.values for entry in entries for votes in entry.panels.values()):
        raise typer.Exit(1)


def _models(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError("--models names no model: give some as Inspect names them, such as openai/gpt-5.")
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise UserError(f"--models names {', '.join(twice)} more than once: a panel needs different judges.")
    return names


def _mode(name: str) -> str:
    if name not in MODES:
        raise UserError(f"There is no mode {name!r} of judging: choose {', '.join(MODES)}.")
    return ",".join(MODES[name])


def _questions(text: str) -> tuple[Name, ...]:
    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown = sorted(names - set(NAMES))
    if unknown or not names:
        raise UserError(f"--what cannot be {', '.join(unknown) or 'empty'}: choose from {', '.join(NAMES)}.")
    return tuple(name for name in NAMES if name in names)


def _text_only(text: str, panel: list[str]) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    strange = [name for name in names if name not in panel]
    if strange:
        raise UserError(f"--text-only names {', '.join(strange)}, which --models does not.")
    return names


def _sit(cases: list[Case], panel: JudgePanel, asking: AskOptions) -> list[JudgedRun]:
    sessions: list[JudgingSession] = []
    budget = JudgeBudget(requests=asking.budget, cost=asking.budget_cost)

    async def main() -> None:
        async with opened(panel.judges, text_only=panel.blind, seconds=asking.timeout, budget=budget) as judges:
            for judge in judges:
                if judge.model is None:
                    _say(f"judge {judge.name} is left out: {judge.problem}")
            if not any(judge.model for judge in judges):
                raise UserError("No judge can be asked: set the keys of their providers, or name others with --models.")
            sessions.append(JudgingSession(cases=cases, judges=judges, what=panel.asked, resume=asking.resume))
            await _watched(sessions[0], asking.parallel)

    try:
        interrupts.run(main)
    except KeyboardInterrupt:
        _say("interrupted: the votes given so far are kept, and the same command with --resume continues.")
        raise typer.Exit(130) from None
    for name, why in sessions[0].gone.items():
        _say(f"judge {name} was not asked again: its provider says: {why}")
    if sessions[0].unasked:
        _say(f"the budget is used up: {budget.made} requests, ${budget.spent:.2f} as far as prices are known.")
        _say(f"{counted(sessions[0].unasked, 'question')} left: the same command with --resume continues.")
    return [judged(sessions[0].judgement(case), case.row, case.outcomes) for case in cases]


async def _watched(session: JudgingSession, parallel: int) -> None:
    """Run a session and say on standard error how far it is and what it took so far."""
    left = Counter(question.case.run.id for question in session.questions)
    total, used, done = len(session.questions), JudgeUsage(), 0
    if session.kept:
        _say(f"{session.kept} votes already exist; {total} are left to ask for.")
    with counter(total, "Judging") as step:

        def told(case: Case, vote: Vote) -> None:
            nonlocal used, done
            used += vote.usage
            done += 1
            left[case.run.id] -= 1
            step(_took(used))
            if not left[case.run.id] and not sys.stderr.isatty():
                _say(f"{case.task.id} is judged: {done} of {total} votes, {_took(used)}")

        await session.run(parallel, told)


def _took(used: JudgeUsage) -> str:
    cost = "" if used.cost is None else f", ${used.cost:.2f}"
    return f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out{cost}"


def _show_plan(cases: list[Case], panel: JudgePanel, json: bool, *, resume: bool) -> None:
    judges = [Judge(name=name, sighted=name not in panel.blind) for name in panel.judges]
    session = JudgingSession(cases=cases, judges=judges, what=panel.asked, resume=resume)
    questions = [question for question in session.questions if not question.unasked]
    if json:
        prompts = [
            {"run": question.case.run.id, "task": question.case.task.id, "ask": question.ask.name,
             "shuffle": question.ask.shuffle, "judge": question.judge.name, "system": question.prompt.system,
             "user": question.prompt.user, "pictures": [picture.name for picture in question.prompt.pictures]}
            for question in questions
        ]  # fmt: skip
        requests = {"least": len(questions), "most": len(questions) * TRIES}
        print_json({"requests": requests, "questions": prompts})
        return
    characters = sum(len(question.prompt.system) + len(question.prompt.user) for question in questions)
    pictures = sum(len(question.prompt.pictures) for question in questions)
    counts = ((len(cases), "run"), (len(judges), "judge"), (len(questions), "question"))
    what = ", ".join(counted(number, thing) for number, thing in counts)
    console().print(
        f"{what}: {characters:,} characters and {pictures} pictures to send, in {len(questions)} requests, or up to "
        f"{len(questions) * TRIES} where replies have to be corrected. Nobody was asked.",
        soft_wrap=True,
    )


def _report(entries: list[JudgedRun], cases: list[Case], json: bool) -> None:
    numbers = overall(entries)
    own = sorted({case.agent for case in cases} & {name for entry in entries for name in _judges(entry)})
    for name in own:
        _say(f"{name} judges its own runs: models favour what they wrote themselves.")
    if json:
        print_json({"runs": [entry.to_json() for entry in entries], "overall": numbers})
        return

    show(console(), entries, numbers)
    _say(f"judging these runs took {_took(JudgeUsage(**numbers['usage']))} in all.")


def _judges(entry: JudgedRun) -> set[str]:
    return {name for panel in entry.panels.values() for name in panel.asked}


def _say(message: str) -> None:
    # What a provider says may hold anything.
    print(f"m3bench: {printable(message)}", file=sys.stderr, flush=True)
