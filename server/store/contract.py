"""What every store can do: the seam between those who keep and read a record and the database that it is in.

`factory.open_store` gives the one that goes with a place. A store is the journal of a server process, too.
"""

from pathlib import Path
from typing import Protocol

from m3bench.proxy.protocol.tool_calls import Journal
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import CallRecord, Damage, Resumption, RunRecord


class Store(Journal, Protocol):
    """Runs and calls. Whatever cannot be read or written now is said in a `StoreError`, with its cause and remedy."""

    @property
    def place(self) -> RecordLocation:
        """Where the record is."""
        ...

    @property
    def folder(self) -> Path:
        """Where the files of its runs lie."""
        ...

    @property
    def failing(self) -> bool:
        """Whether something of what was to be written last is not on record."""
        ...

    @property
    def queued(self) -> int:
        """Writes that wait for the writer."""
        ...

    # Seats and runs

    def add_seat(self, seat: str, profile: str, opened: str) -> None:
        """Note a seat of this process; it is put on record together with its first call."""
        ...

    def add_run(self, run: RunRecord, resumption: Resumption | None = None) -> None:
        """Put a run that begins on record, and how to go on with it if it is to outlive this process."""
        ...

    def change_run(self, run: str, **changes: object) -> None:
        """Set fields of a run: its state, answer, seal, end or score card."""
        ...

    def delete_run(self, *runs: str) -> None:
        """Forget runs and their calls; other processes may write meanwhile."""
        ...

    # What is on record

    def run(self, prefix: str) -> RunRecord | None:
        """The run whose handle begins so, when there is exactly one."""
        ...

    def runs(self, seat: str | None = None) -> list[RunRecord]:
        """The runs of a seat, or every run, newest first; without those whose record is damaged."""
        ...

    def damaged_runs(self) -> list[Damage]:
        """The runs that `runs` leaves out."""
        ...

    @property
    def writer_name(self) -> str:
        """What this process is called on record."""
        ...

    def states(self) -> dict[str, int]:
        """How many runs there are in each state."""
        ...

    def calls(self, run: str) -> list[CallRecord]:
        """A run's calls in the order they arrived; a `StoreError` says which of them is damaged."""
        ...

    def sound_calls(self, run: str) -> tuple[list[CallRecord], list[Damage]]:
        """The same as far as they can be read, and what cannot."""
        ...

    def client(self, run: str) -> str:
        """What the client of a run calls itself; empty when it made no call."""
        ...

    # Processes that come and go

    def mend(self) -> None:
        """Tidy up after dead processes: their calls were cut off, their runs wait for clients or are abandoned."""
        ...

    def take_over(self, seat: str) -> tuple[RunRecord, Resumption] | None:
        """The run that waits on a seat for its client, from now on this process's; a `RunError` says who has it."""
        ...

    def home(self, seat: str, *, doubted: bool = False) -> str | None:
        """Where the server is that has a seat; None when it is this one, from now on if it was nobody's.

        Args:
            seat: The seat.
            doubted: Whether the one that had it could not be reached: it is looked whether it lives.

        Raises:
            RunError: One has it that cannot be reached from here.
        """
        ...

    def leave(self, seat: str) -> None:
        """Let go of a seat, which another server may have from now on."""
        ...

    def lose(self, run: str, ended: str, why: str) -> None:
        """Put on record that a run is void, because it could not be resumed."""
        ...

    def lost(self, run: str) -> str | None:
        """Why a run could not be resumed; None when it was, or never had to be."""
        ...

    def catch_up(self) -> None:
        """Write what was put off."""
        ...

    def close(self) -> None:
        """Write what was put off, as far as possible, and let go."""
        ...
