"""A third-party server as a child process: started so that it ends with us, whatever it and its children do."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from errno import ENOENT

import anyio
import anyio.to_thread

from m3bench.proxy.protocol.pipes import widen
from m3bench.tasks import supervisor

STOP_SECONDS = 3.0
"""Time to end after its input closed, after it was asked to, and after it was killed."""


class ChildProcess:
    """A running child process with its standard input and output.

    Args:
        command: The program and its arguments.
        env: Its whole environment.
        cwd: The folder it starts in; ours when it is None.

    Raises:
        OSError: It cannot be started.
        ValueError: The command has a character that no command can have.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> None:
        self._lifeline = -1
        pipe = subprocess.PIPE
        if os.name != "posix":
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=env, cwd=cwd)
            return
        # The supervisor could only exit; here there is somebody to tell.
        place = os.path.join(cwd or "", command[0]) if os.path.dirname(command[0]) else command[0]
        if shutil.which(place, path=env.get("PATH")) is None:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), command[0])
        theirs, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                supervisor.command(theirs, command), stdin=pipe, stdout=pipe, bufsize=0, env=env, cwd=cwd,
                start_new_session=True, pass_fds=(theirs,),
            )  # fmt: skip
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(theirs)
        widen(self.reading)

    @property
    def reading(self) -> int:
        """The descriptor of what it prints."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    @property
    def writing(self) -> int:
        """The descriptor of what it reads."""
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    async def stop(self) -> None:
        """End it and whatever it started; bounded, whatever it does."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with anyio.CancelScope(shield=True):
            with suppress(OSError):
                process.stdin.close()
            if not await self._has_ended():
                process.terminate()
                await self._has_ended()
            self._kill()
            await self._has_ended()
            process.stdout.close()

    async def _has_ended(self) -> bool:
        def wait() -> bool:
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                return False
            return True

        return self._process.poll() is not None or await anyio.to_thread.run_sync(wait)

    def _kill(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGCONT)
        elif os.name != "posix":
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(self._process.pid)], capture_output=True, check=False)
