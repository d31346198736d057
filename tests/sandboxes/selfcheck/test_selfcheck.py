"""Every backend, and the process backend as it looks on poorer platforms, goes through the same checks."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import LACKING, Backend, Guard
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.selfcheck import CHECKS, Check, CheckVerdict, run_check

BACKENDS: dict[str, Callable[[], Backend]] = {
    "inprocess": InProcessBackend,
    "process": ProcessBackend,
    "docker": DockerBackend,
}

WALLS = frozenset(LACKING) - {"process"}

POORER: dict[str, tuple[Isolation, frozenset[Guard]]] = {
    "without-bubblewrap": (Isolation(bubblewrap=False), WALLS),
    "without-landlock": (Isolation(bubblewrap=False, landlock=False), frozenset({"network", "forks"})),
    "without-namespaces": (Isolation(bubblewrap=False, namespaces=False), frozenset({"network", "forks"})),
    "without-seccomp": (Isolation(seccomp=False), frozenset({"network"})),
    "as-root": (Isolation(bubblewrap=False, own_user=False), frozenset({"kernel", "forks"})),
    "with-nothing": (
        Isolation(
            bubblewrap=False, landlock=False, namespaces=False, seccomp=False, own_user=False, limited=False
        ), frozenset({"process"}),
    ),
}  # fmt: skip
"""One mechanism after the other switched off, as on another platform, and the guards for which that makes a
difference."""


def _cases() -> Iterator[Any]:
    for check in CHECKS:
        for name, backend in BACKENDS.items():
            marks = [pytest.mark.docker] if name == "docker" else []
            yield pytest.param(backend, check, id=f"{name}-{check.name}", marks=marks)
        for name, (isolation, guards) in POORER.items():
            if check.needs in guards:
                yield pytest.param(
                    partial(ProcessBackend, isolation), check, id=f"{name}-{check.name}", marks=pytest.mark.slow
                )


@pytest.mark.all_sample(60)
@pytest.mark.sample(12)
@pytest.mark.parametrize(("backend", "check"), list(_cases()))
def test_a_backend_does_what_every_backend_must(backend: Callable[[], Backend], check: Check, tmp_path: Path) -> None:
    async def run() -> CheckVerdict:
        async with backend() as opened:
            return await run_check(check, opened, tmp_path)

    verdict = anyio.run(run)
    if verdict.state == "skipped":
        pytest.skip(verdict.reason)
    assert verdict.state == "passed", verdict.reason
