"""What depends on what in a task, in words: the analysis that MCP-Bench gives its judge.

There a model writes it when a task is made. Here it follows from playing the reference: which call uses what another
one told or made, and which calls need nothing of each other. It names tools and no arguments or results.
"""

from m3bench.tasks.plan import Plan
from m3bench.tasks.task import Reference

_INTRODUCTION = "One way to solve the task makes these calls:"


def dependencies(reference: Reference, plan: Plan) -> str:
    """The calls of a reference by the earliest round in which each could be made, with what it needs."""
    tools = [call.tool for step in reference.steps for call in step]
    rounds = {place: plan.fewest_steps({place, *plan.before[place]}) for place in range(len(tools))}
    lines = [_INTRODUCTION]
    for number in range(1, max(rounds.values(), default=0) + 1):
        members = [place for place, found in rounds.items() if found == number]
        together = ", which need nothing of each other and can be made together" if len(members) > 1 else ""
        lines.append(f"Round {number}{together}:")
        lines += [f"- call {place + 1}, {tools[place]}{_needed(plan, place)}" for place in members]
    servers = list(dict.fromkeys(tool.partition("/")[0] for tool in tools))
    lines.append(f"It uses {len(servers)} server{'' if len(servers) == 1 else 's'}: {', '.join(servers)}.")
    return "\n".join(lines)


def _needed(plan: Plan, place: int) -> str:
    needs = sorted(plan.calls[place].needs)
    waits = sorted(set(plan.calls[place].waits) - set(needs))
    said = f", needs the result of {_calls(needs)}" if needs else ", needs no other result"
    return said + (f", may be chosen by what {_calls(waits)} told" if waits else "")


def _calls(places: list[int]) -> str:
    numbers = [str(place + 1) for place in places]
    return f"call{'' if len(numbers) == 1 else 's'} {', '.join(numbers)}"
