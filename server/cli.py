"""The `m3bench` program: greets a client that waits, then runs the command line. Ctrl-C is one line and code 130."""

import os
import signal
import sys

_SOON_SECONDS = 0.05


def main() -> None:
    """Run the program. A client that starts `m3bench serve` has its tools before the commands are imported."""
    sys.unraisablehook = _press_again
    try:
        try:
            _run()
        finally:
            # What is left is the end of the process, which another Ctrl-C would only fill with tracebacks.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except SystemExit:
        raise
    except BaseException as error:
        from m3bench.tasks.errors import is_ctrl_c

        # What comes here came before a command was at work, or after: else the command has told it.
        if not is_ctrl_c(error):
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("m3bench: stopped", file=sys.stderr)
        raise SystemExit(130) from None


def _press_again(lost: "sys.UnraisableHookArgs") -> None:
    """Ctrl-C that came while something was thrown away is lost, and Python only prints it: let it come again."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        import threading

        threading.Timer(_SOON_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def _run() -> None:
    opening = None
    if sys.argv[1:2] == ["serve"]:
        from m3bench.proxy.instant import greet

        opening = greet(sys.argv[2:])
    elif sys.argv[1:3] == ["world", "search"]:
        from m3bench.server.commands.world_search import at_once

        if (code := at_once(sys.argv[3:])) is not None:
            sys.exit(code)
    from m3bench.server.commands import program

    program.main(opening)


if __name__ == "__main__":
    main()
