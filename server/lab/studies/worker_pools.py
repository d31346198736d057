"""Workers that a study starts for itself: none, processes on this machine, or actors on a Ray cluster.

A pool is started when samples are in the queue, asked now and then whether a worker is left, and ended with the study.
Workers that somebody else started are no part of it.

On a cluster each worker is an actor that keeps one worker process on a node that has room for it. Ray chooses the
nodes, starts an actor again elsewhere when its node has died, and says what is missing when there is no room. Samples
and results go through the study's database, never through Ray, so a lost node loses nothing but time.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

from m3bench.server.lab.studies.worker import Terms
from m3bench.tasks.errors import UserError

LEAVE_SECONDS = 30.0
"""Time for a worker to give back what it has."""

LOCAL_RESTARTS = 5
"""Workers that are started in place of others that died."""


class WorkerPool(Protocol):
    """Workers of a study."""

    def start(self) -> None:
        """Start the workers."""
        ...

    def gone(self) -> str | None:
        """Why nobody of them is at work any more; None while somebody is, or when it is left to others."""
        ...

    def close(self) -> None:
        """End the workers, which give back what is not finished."""
        ...


class NoWorkers:
    """Workers are started by others."""

    def start(self) -> None:
        """Nothing."""

    def gone(self) -> str | None:
        """Nobody knows."""
        return None

    def close(self) -> None:
        """Nothing."""


class LocalWorkers:
    """Processes on this machine.

    Args:
        terms: How they work.
        count: How many.
    """

    def __init__(self, terms: Terms, count: int) -> None:
        self._terms = terms
        self._count = count
        self._again = LOCAL_RESTARTS
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start the processes."""
        self.processes = [self._started() for _ in range(self._count)]

    def gone(self) -> str | None:
        """One that was killed is replaced, a few times."""
        for place, process in enumerate(self.processes):
            code = process.poll()
            if code is not None and code < 0 and self._again > 0:
                self._again -= 1
                self.processes[place] = self._started()
        if any(process.poll() is None for process in self.processes):
            return None
        return "No worker is left, and samples are: see above what they said."

    def close(self) -> None:
        """Tell them to end, and wait for it."""
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **worker_environment(self._terms)}
        # In a session of their own, so that Ctrl-C is the study's, which then ends them.
        return subprocess.Popen(
            worker_command(self._terms), env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )


def worker_command(terms: Terms) -> list[str]:
    """The command that starts a worker."""
    return [sys.executable, "-m", "m3bench.server.cli", "lab", "worker", "--slots", str(terms.slots), "--until-empty",
            "--lease", str(terms.lease), *(["--study", terms.study] if terms.study else [])]  # fmt: skip


def worker_environment(terms: Terms) -> dict[str, str]:
    """What its environment has beside that of whoever starts it.

    The queue's address is not on the command line, which everybody on the machine can read: it may hold a password.
    """
    return {"M3BENCH_STORE": terms.place.url or ""}


RAY_RESTARTS = 20
"""Times that a worker is started once more, when its process or its node has died."""

ROOM_SECONDS = 20.0
"""After which it is said that the cluster has no room for all workers."""

STOPPED = -1
"""What an actor returns when its worker was told to end."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Which cluster, and what each worker takes of it."""

    address: str | None = None
    """As Ray writes it; None for the one of `RAY_ADDRESS`, one that runs on this machine, or a new one here."""
    cpus: float = 1.0
    """Cores."""
    memory: int | None = None
    """Bytes."""
    resources: Mapping[str, float] = field(default_factory=dict)
    """Other resources that nodes must have, by the names that they were started with."""
    spread: bool = True
    """Whether workers go to as many nodes as there are; else a node is filled first."""


class RayWorkers:
    """Workers as actors.

    Args:
        terms: How they work.
        count: How many.
        cluster: Where.
        say: Is told when there is no room for all of them.
    """

    def __init__(self, terms: Terms, count: int, cluster: Cluster, say: Callable[[str], None]) -> None:
        self._terms = terms
        self._count = count
        self._cluster = cluster
        self._say = say
        self._actors: list[Any] = []
        self._working: list[Any] = []

    def start(self) -> None:
        """Connect to the cluster and place the workers; those without room begin when there is some.

        Raises:
            UserError: Ray is not installed, or the cluster cannot be reached.
        """
        ray = _ray()
        _connect(ray, self._cluster)
        actor_class = ray.remote(_Actor).options(**_options(self._cluster))
        command, environment = worker_command(self._terms), worker_environment(self._terms)
        self._actors = [actor_class.remote(command, environment) for _ in range(self._count)]
        here = [actor.here.remote() for actor in self._actors]
        self._working = [actor.work.remote() for actor in self._actors]
        placed, waiting = ray.wait(here, num_returns=len(here), timeout=ROOM_SECONDS)
        if waiting:
            self._say(
                f"The cluster has room for {len(placed)} of {len(here)} workers so far; each asks for "
                f"{_amounts(self._cluster)}. The others begin when there is room: see `ray status`."
            )

    def gone(self) -> str | None:
        """Ray has started again whatever could be; a worker that ended by itself found nothing more to do."""
        ray = _ray()
        ended, working = ray.wait(self._working, num_returns=len(self._working), timeout=0)
        if working:
            return None
        reasons = sorted({reason for work in ended if (reason := _why(ray, work))})
        return " ".join(["No worker is left on the cluster, and samples are.", *reasons])

    def close(self) -> None:
        """Have every worker give back what it has, then leave the cluster."""
        ray = _ray()
        if not ray.is_initialized():
            return
        for actor in self._actors:
            actor.stop.remote()
        if self._working:
            ray.wait(self._working, num_returns=len(self._working), timeout=LEAVE_SECONDS)
        for actor in self._actors:
            ray.kill(actor)
        ray.shutdown()


class _Actor:
    """The actor: keeps one worker process on its node, and ends it when told.

    Args:
        command: Of the worker.
        environment: What the worker's has beside the node's own.
    """

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._stopped = False
        own = {**os.environ, **environment}
        # The node's own Python, which need not be where the study's is; and a session of its own, so that a Ctrl-C
        # at a terminal on the node is not the worker's.
        self._process = subprocess.Popen(
            [sys.executable, *command[1:], "--parent", str(os.getpid())],
            env=own, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def here(self) -> str:
        """The node it is on: it has begun."""
        return os.uname().nodename

    def work(self) -> int:
        """Wait for the worker; its exit code. One that was killed ends the actor, which Ray starts again."""
        code = self._process.wait()
        if code < 0 and not self._stopped:
            os._exit(1)
        return STOPPED if self._stopped else code

    def stop(self) -> None:
        """Have the worker give back its samples and end."""
        self._stopped = True
        self._process.terminate()


def _options(cluster: Cluster) -> dict[str, object]:
    options: dict[str, object] = {
        "num_cpus": cluster.cpus,
        "resources": dict(cluster.resources),
        "max_restarts": RAY_RESTARTS,
        "max_task_retries": RAY_RESTARTS,
        # One waits for the worker, one tells it to end.
        "max_concurrency": 3,
        "scheduling_strategy": "SPREAD" if cluster.spread else "DEFAULT",
    }
    return options if cluster.memory is None else {**options, "memory": cluster.memory}


def _amounts(cluster: Cluster) -> str:
    parts = [f"{cluster.cpus:g} CPU", *(f"{amount:g} {name}" for name, amount in sorted(cluster.resources.items()))]
    return ", ".join(parts if cluster.memory is None else [*parts, f"{cluster.memory} bytes of memory"])


def _connect(ray: ModuleType, cluster: Cluster) -> None:
    # A cluster that is started here reports to nobody.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(
            address=cluster.address,
            logging_level=logging.ERROR,
            configure_logging=False,
            ignore_reinit_error=True,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = cluster.address or os.environ.get("RAY_ADDRESS") or "on this machine"
        raise UserError(f"The Ray cluster {where} cannot be used: {error}") from error


def _why(ray: ModuleType, work: object) -> str | None:
    try:
        code = ray.get(work)
    except ray.exceptions.RayError as error:
        return str(error).splitlines()[0]
    return f"A worker ended with exit code {code}." if code > 0 else None


def _ray() -> ModuleType:
    try:
        import ray  # an extra that few installations have
    except ImportError as error:
        raise UserError("Workers on a cluster need Ray: pip install 'm3bench[ray]'.") from error
    module: ModuleType = ray
    return module
