"""How this server reports failures: plain text `Error (<CODE>): <message>` in an ordinary result."""

from m3bench.tasks.errors import Failure, SoftError


def failure(
    message: str,
    code: str = "ERROR",
    *,
    outcome: Failure = "not_found",
) -> SoftError:
    """The error to raise, with the text the client reads."""
    return SoftError(f"Error ({code}): {message}", outcome=outcome)


def check_limit(limit: int, most: int, message: str) -> None:
    """Refuse a number of results outside 1 … most."""
    if not 1 <= limit <= most:
        raise failure(message, outcome="invalid_arguments")
