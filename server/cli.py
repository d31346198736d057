"""The `m3bench` program: greets a client that waits, then runs the command line. Ctrl-C is one line and code 130.

Imports are inside functions here because this is where every start begins: a client of `m3bench serve` has its tools,
and a search of the world its answer, before the command line is imported.
"""

import gc
import os
import signal
import sys

_SOON_SECONDS = 0.05


def main() -> None:
    """Run the program."""
    sys.unraisablehook = _press_again
    # What is imported stays: until the command begins, looking for what could go is a fifth of the start.
    gc.disable()
    try:
        try:
            _run()
        finally:
            # The process is about to end: another Ctrl-C would only print tracebacks.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except SystemExit:
        raise
    except BaseException as error:
        from m3bench.tasks.errors import is_ctrl_c

        # Ctrl-C came before the command was at work, or after it: otherwise the command has said so itself.
        if not is_ctrl_c(error):
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("m3bench: stopped", file=sys.stderr)
        raise SystemExit(130) from None


def _press_again(lost: "sys.UnraisableHookArgs") -> None:
    """Send Ctrl-C again when it came while an object was being destroyed: there Python only prints it."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        import threading

        threading.Timer(_SOON_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def _run() -> None:
    first = None
    if sys.argv[1:2] == ["serve"]:
        from m3bench.proxy.transports.instant import greet

        first = greet(sys.argv[2:])
    elif sys.argv[1:3] == ["world", "search"]:
        from m3bench.server.commands.world_search import at_once

        if (code := at_once(sys.argv[3:])) is not None:
            sys.exit(code)
    from m3bench.server.commands import program

    program.main(first)


if __name__ == "__main__":
    main()
