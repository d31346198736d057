"""The `m3bench` program: greets a client that waits, then runs the command line."""

import sys


def main() -> None:
    """Run the program. A client that starts `m3bench serve` has its tools before the commands are imported."""
    opening = None
    if sys.argv[1:2] == ["serve"]:
        from m3bench.proxy.instant import greet

        opening = greet(sys.argv[2:])
    from m3bench.server.commands import program

    program.main(opening)


if __name__ == "__main__":
    main()
