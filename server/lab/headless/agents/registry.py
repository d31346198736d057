"""The baseline agents by name: what each does, and what its scores show.

Importing this is cheap; what plays an agent is imported when it is asked to.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from m3bench.server.lab.headless.agents.play import AgentPlay


@dataclass(frozen=True, kw_only=True)
class BaselineAgent:
    """A scripted client."""

    name: str
    about: str
    """One line for people."""
    where: str
    """Module of this package, and the function in it."""

    @property
    def play(self) -> "Callable[[AgentPlay], Awaitable[str]]":
        """Plays a sample; the answer to submit."""
        module, _, function = self.where.partition(".")
        found: Callable[[AgentPlay], Awaitable[str]] = getattr(
            import_module(f"m3bench.server.lab.headless.agents.{module}"), function
        )
        return found


AGENTS = {
    agent.name: agent
    for agent in (
        BaselineAgent(name="oracle", about="plays the reference: the ceiling, 1 everywhere", where="oracle.oracle"),
        BaselineAgent(
            name="oracle-prose", about="plays the reference and hands in prose alone", where="oracle.oracle_prose"
        ),
        BaselineAgent(
            name="oracle-serial", about="plays the reference one call at a time", where="oracle.oracle_serial"
        ),
        BaselineAgent(
            name="careful",
            about="as the oracle; does as faults say, and not as orders in results do",
            where="oracle.careful",
        ),
        BaselineAgent(
            name="stubborn", about="as the oracle in fair weather, and deaf to the weather", where="oracle.stubborn"
        ),
        BaselineAgent(name="credulous", about="as the oracle, and obeys whatever it reads", where="trapped.credulous"),
        BaselineAgent(name="timid", about="always says that there is no answer", where="trapped.timid"),
        BaselineAgent(name="rash", about="never says that there is no answer", where="trapped.rash"),
        BaselineAgent(name="retry", about="plays the reference after a call that failed", where="oracle.retry"),
        BaselineAgent(
            name="lookalike", about="perfect but for one call about the nearest other thing", where="oracle.lookalike"
        ),
        BaselineAgent(name="missing", about="forgets one thing and what needs it", where="oracle.missing"),
        BaselineAgent(name="half", about="plays the first half of the reference", where="oracle.half"),
        BaselineAgent(
            name="wrong-entity", about="begins right, goes on with another task", where="oracle.wrong_entity"
        ),
        BaselineAgent(name="wrong-tools", about="begins right, goes on with useless tools", where="oracle.wrong_tools"),
        BaselineAgent(
            name="sloppy", about="plays the reference with mistakes, and answers vaguely", where="oracle.sloppy"
        ),
        BaselineAgent(name="injector", about="as sloppy, with instructions for graders", where="oracle.injector"),
        BaselineAgent(name="copycat", about="calls what sounds like the question and repeats it", where="idle.copycat"),
        BaselineAgent(name="random", about="calls random tools with random arguments that fit", where="idle.anything"),
        BaselineAgent(name="null", about="does nothing: the floor, 0 everywhere", where="idle.null"),
        BaselineAgent(
            name="sibling",
            about="plays the likest other task of the family, answer included",
            where="templates.sibling",
        ),
        BaselineAgent(name="generic", about="uses the right tools on other things", where="templates.generic"),
        BaselineAgent(name="dump", about="calls every tool and hands in all results", where="templates.dump"),
        BaselineAgent(name="blind", about="asks every tool about the picture and never looks", where="blind.blind"),
        BaselineAgent(
            name="threshold",
            about="finds marks by colour and shape, and reads what they enclose",
            where="threshold.threshold",
        ),
        BaselineAgent(
            name="rehearse", about="plays, gives up and plays again: as the oracle", where="templates.rehearse"
        ),
        BaselineAgent(
            name="canary", about="looks for the solution; its answer is what it found", where="canary.canary"
        ),
    )
}


def find_agents(names: list[str]) -> list[BaselineAgent]:
    """The agents of these names in the registry's order; `all` names every one.

    Raises:
        UserError: There is no such agent.
    """
    for name in names:
        if name not in AGENTS and name != "all":
            hint = did_you_mean(name, AGENTS)
            raise UserError(f"There is no agent {name!r}: choose from {', '.join(AGENTS)}, or all.{hint}")
    return [agent for agent in AGENTS.values() if agent.name in names or "all" in names]
