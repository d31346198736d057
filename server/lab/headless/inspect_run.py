"""Lets a model play the samples of a plan, through Inspect.

Each sample is reported as soon as it is over; Inspect's own log of the run is kept next to the results. Only the
model's provider is contacted. Inspect is an extra that need not be installed, and takes seconds to load: it is imported
when a model is asked for.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.text import Text

from m3bench.server.lab.headless.forked_servers import forked_servers
from m3bench.server.lab.headless.inspect_seat import server_environment
from m3bench.server.lab.headless.plan import ModelOptions, RunPlan, SampleDone, SampleSource
from m3bench.server.lab.headless.providers.retries import RetryPolicy
from m3bench.server.lab.results.resultset import LOGS
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import inspect_ai
    from inspect_ai import model as inspect_model
    from inspect_ai.dataset import Sample as InspectSample
    from inspect_ai.log import EvalLog

    from m3bench.server.lab.headless import inspect_task, solver
else:
    inspect_ai = LazyModule("inspect_ai")
    inspect_model = LazyModule("inspect_ai.model")
    solver = LazyModule("m3bench.server.lab.headless.solver")
    inspect_task = LazyModule("m3bench.server.lab.headless.inspect_task")


class ProviderGoneError(UserError):
    """A model's provider no longer answers requests, or not those of this account.

    Args:
        message: What it said, and how to go on.
        provider: Whether all of its models are gone with it, as far as is known.
    """

    def __init__(self, message: str, *, provider: bool) -> None:
        self.provider = provider
        super().__init__(message)


def run_model(plan: RunPlan, options: ModelOptions, done: SampleDone, source: SampleSource | None = None) -> None:
    """Play what a plan has to do.

    Args:
        plan: The plan.
        options: How the model is driven.
        done: Called with every finished sample.
        source: Gives the samples in place of those of the plan, of which only the number counts then.

    Raises:
        UserError: The model cannot be used, or too many samples in a row failed through no fault of it.
        ProviderGoneError: Its provider will answer nothing more, or has not for many samples in a row.
        KeyboardInterrupt: The person stopped it; what was told of is kept.
    """
    model = find_model(options)
    settings, sighted = plan.settings, options.sight != "text"
    player = solver.seated(_sample_options(plan, options))

    async def found() -> "InspectSample | None":
        attempt = None if source is None else await source()
        if attempt is None:
            return None
        profile = plan.profile(attempt.task)
        return inspect_task.sample_of(
            plan.library, attempt, profile, settings.max_calls, sighted=sighted, hearing=options.hearing
        )

    if source is None:
        attempts = [(attempt, plan.profile(attempt.task)) for attempt in plan.todo]
        played = inspect_task.inspect_task(
            plan.library, attempts, player, settings.max_calls, sighted=sighted, hearing=options.hearing
        )
    else:
        played = inspect_task.places(plan.library, len(plan.todo), player)
    watch = solver.SampleWatch(done, found=None if source is None else found)
    token = solver.WATCH.set(watch)
    try:
        with forked_servers(server_environment()):
            logs = inspect_ai.eval(
                played,
                model=model,
                display="none",
                log_dir=str(plan.folder.absolute() / LOGS),
                log_realtime=False,
                log_level="error",
                max_samples=plan.parallel,
                max_connections=plan.parallel,
                fail_on_error=False,
                ctl_server=False,
                score_display=False,
            )
    finally:
        solver.WATCH.reset(token)
    _check(logs, watch)


def _sample_options(plan: RunPlan, options: ModelOptions) -> "solver.SampleOptions":
    settings = plan.settings
    return solver.SampleOptions(
        data=settings.data.absolute(),
        tasks=plan.library.folder.absolute() if settings.tasks is not None else None,
        sandbox=settings.sandbox,
        runtime=settings.runtime,
        encoder=settings.encoder,
        max_calls=settings.max_calls,
        weather=settings.weather,
        agent=options.solver,
        calling=options.calling,
        sighted=options.sight != "text",
        max_steps=options.max_steps,
        batch=options.batch,
        planning=options.planning,
        compress=options.compress,
        minutes=options.max_minutes,
        messages=options.max_messages,
        tokens=options.max_tokens,
    )


def _check(logs: "Sequence[EvalLog]", watch: "solver.SampleWatch") -> None:
    """Raise what ended an evaluation before its time."""
    if watch.broken is not None:
        raise watch.broken
    # When Ctrl-C ends an evaluation, Inspect returns no log, or one that says so, and does not raise.
    if not logs or any(log.status == "cancelled" for log in logs):
        raise KeyboardInterrupt
    if watch.gone:
        raise ProviderGoneError(
            f"Stopped, because no request will be answered until this is fixed: {watch.last_reason.rstrip('.')}. "
            "Then continue with --resume.",
            provider=watch.gone == "provider",
        )
    if watch.halted and watch.last_fault == "provider":
        raise ProviderGoneError(
            f"Stopped, because too many samples in a row were not answered: {watch.last_reason.rstrip('.')}. "
            "When that is fixed, continue with --resume.",
            provider=True,
        )
    if watch.halted:
        raise UserError(
            f"Stopped, because too many samples in a row failed through no fault of the model: {watch.last_reason} "
            "When that is fixed, continue with --resume."
        )
    for log in logs:
        if log.status == "error" and log.error is not None:
            raise UserError(f"Inspect could not run the samples: {log.error.message}")


def find_model(options: ModelOptions) -> "inspect_model.Model":
    """The model, ready to be asked.

    Raises:
        UserError: Inspect is not installed, knows no such model, or lacks what the provider needs.
    """
    try:
        get_model = inspect_model.get_model
    except ImportError as error:
        raise UserError("Models are run by Inspect: pip install 'm3bench[agents]' installs it.") from error
    from m3bench.server.lab.headless import registry  # makes our own provider known
    from m3bench.server.lab.headless.inspect_listen import listen

    assert registry
    solver.check_player(options.solver, options.calling, options.planning, options.compress)
    _set_price(options)
    try:
        config = inspect_model.GenerateConfig.model_validate({**options.generate, "max_retries": 0})
    except ValidationError as error:
        raise UserError(f"--generate cannot be used: {error.errors(include_url=False)[0]['msg']}") from error
    try:
        model = get_model(options.model, config=config, memoize=False, **_mock(options.model), **options.arguments)
    except UserError:
        raise
    except Exception as error:
        said = " ".join(Text.from_markup(str(error)).plain.split()).removeprefix("ERROR: ") or type(error).__name__
        raise UserError(f"The model {options.model!r} cannot be used: {said}") from error
    listen(model, RetryPolicy(minutes=options.retry_minutes))
    return model


def _set_price(options: ModelOptions) -> None:
    """Tell Inspect what a model costs."""
    if options.price is None:
        return
    try:
        read, written, *cached = (float(part) for part in options.price.split(","))
    except ValueError:
        read, written, cached = -1, -1, []
    if len(cached) > 1 or not all(0 <= number < math.inf for number in (read, written, *cached)):
        raise UserError(
            f"--price takes dollars for a million tokens, such as 1.25,10 (read, written): {options.price!r}"
        )
    cost = inspect_model.ModelCost(
        input=read, output=written, input_cache_write=read, input_cache_read=cached[0] if cached else read
    )
    known = inspect_model.get_model_info(options.model) or inspect_model.ModelInfo()
    inspect_model.set_model_info(options.model, known.model_copy(update={"cost": cost}))


def _mock(model: str) -> dict[str, Any]:
    """What keeps Inspect's mock model from fetching a tokenizer: outputs that say what they cost."""
    if not model.startswith("mockllm/"):
        return {}

    def output(*_: object) -> inspect_model.ModelOutput:
        said = inspect_model.ModelOutput.from_content(model, "I do not know.")
        said.usage = inspect_model.ModelUsage()
        return said

    return {"custom_outputs": output}
