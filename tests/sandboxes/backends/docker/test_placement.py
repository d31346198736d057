"""What of a container can be looked at from outside."""

from pathlib import Path
from typing import Any

import pytest

from m3bench.sandboxes.backends.docker.placement import of_container
from m3bench.sandboxes.backends.watch import ResourceWatch

ID = "5f" * 32


class Engine:
    """An engine whose containers have a first process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def inspect_container(self, name: str) -> dict[str, Any]:
        return {"Id": ID, "State": {"Pid": self.pid}, "Name": name}


@pytest.mark.parametrize(
    ("pid", "group", "seen"),
    [
        (42, f"0::/system.slice/docker-{ID}.scope\n", 42),
        (42, f"5:memory:/docker/{ID}\n4:cpu:/docker/{ID}\n", 42),
        (42, "0::/user.slice/user-1000.slice/session-1.scope\n", 0),
        (42, None, 0),
        (0, f"0::/{ID}\n", 0),
    ],
    ids=["one group", "many groups", "a stranger's process", "of another machine", "that has ended"],
)
def test_only_processes_of_the_container_itself_are_looked_at(
    pid: int, group: str | None, seen: int, tmp_path: Path
) -> None:
    if group is not None:
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cgroup").write_text(group)
    assert of_container(Engine(pid), "x", ResourceWatch(workspace=tmp_path), tmp_path).pid == seen
