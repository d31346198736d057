"""`m3bench` with a secret set that is made in no time: the two small tasks of the tests, under the names of the secret.

Run as a program, with the arguments of `m3bench`. Everything but the making of tasks is the real thing.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> None:
    """Be the command line."""
    from m3bench.server.commands.program import main as program
    from m3bench.server.lab.authoring import sets
    from m3bench.server.settings import Settings
    from m3bench.tasks.library import Library, MadeLibrary
    from m3bench.tasks.secret import Secret
    from tests.sets import hidden, write_set

    def private_set(settings: Settings, seed: int, secret: Secret | None = None) -> MadeLibrary:
        assert secret is not None
        with TemporaryDirectory() as folder:
            return hidden(Library(write_set(Path(folder) / "set")), secret)

    sets.private_set = private_set
    program()


if __name__ == "__main__":
    main()
