"""What every backend must do, written once: a list of checks that any of them can be put through.

Each check opens sandboxes with the probe in them and makes it misbehave. A check that is about a guard is
skipped where the sandbox says it does not have it, and then there must be a notice that says so too. Tests
run the list over every backend; so can a user, to see what a machine gives.
"""

from m3bench.sandboxes.selfcheck import calls, failures, guards
from m3bench.sandboxes.selfcheck.checks import CHECKS, Check, CheckVerdict, processes, run_check

__all__ = ["CHECKS", "Check", "CheckVerdict", "calls", "failures", "guards", "processes", "run_check"]
