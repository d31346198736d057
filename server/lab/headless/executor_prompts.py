"""What the executor says to a model."""

SYSTEM = """\
You solve tasks that begin with a picture, with the help of tools, in steps. A step has two parts: first you say which \
tools you need next, then you write the calls. The calls of a step run at the same time, at most {batch} of them, so a \
call that needs the result of another one belongs in a later step. What a tool can tell, do not guess."""

PLAN_FORM = """\
Reply with one JSON object and nothing else:
{{"done": false, "why": "what is to be found out or made now", "tools": ["name", "another name"]}}
or, when nothing more is needed to answer:
{{"done": true, "why": "what the answer rests on", "tools": []}}"""

FIRST = (
    """\
These are the tools:
{tools}

Which of them do you need for the first step? """
    + PLAN_FORM
)

NEXT = "{trouble}Which tools do you need for the next step, or are you done? " + PLAN_FORM

CALLS = """\
These are the tools you chose, with the schemas of their arguments:
{schemas}

Write the calls of this step, at most {batch}. Reply with one JSON object and nothing else:
{{"calls": [{{"tool": "name", "arguments": {{"argument": "value"}}}}]}}"""

NATIVE_CALLS = "Make the calls of this step now, all of them in this turn, at most {batch}."

CORRECTION = "That could not be read: {problem} Write it once more, as one JSON object and nothing else."

RESULTS = "These are the results of your calls:"

NO_CALLS = "No call was made in this step. "

NOT_RUN = "Not run: a step has at most {batch} calls, and this one came after them. "

OUT_OF_STEPS = "There are no steps left. "

ANSWER = """\
Give your final answer to the task now, complete in itself, in plain words. Where the task names fields to hand in, \
end with them as one JSON object, the fields' names as keys. No more tools can be called."""
