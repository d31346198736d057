"""What the solver `m3-bench` says to a model: prompts with the roles that M³-Bench gives them, in our own words."""

PLAN = """\
You solve a task that begins with a picture, by calling tools in steps. This is step {step} of {steps}.

Decide which tools this step needs. Calls of one step run at the same time, so whatever needs a result that is not \
there yet waits for a later step. Leave out what has been done already: calls that nothing needs count against you.

Write one line for each tool you choose, its name, a colon, and what you want from it, as in
name_of_the_tool: what it is to find out
Below these lines say in a few words how they bring the task forward.

These are the tools, each with its description and the schema of its arguments:
{catalog}"""

PROCESS = """\
Now make the calls of step {step} of {steps} with the tools that were chosen for it, at least one and at most {batch}. \
They run at the same time.

{form}{pool}

The tools that were chosen, each with its description and the schema of its arguments:
{tools}"""

JSON_FORM = """\
Reply with one JSON object and with nothing before or after it, neither prose nor a code fence:
{"calls": [{"tool": "name", "arguments": {"argument": "value"}}]}"""

NATIVE_FORM = "Call the tools directly, all of them in this one turn."

POOL = """

Pictures that tools can open so far, by path, and where each is from:
{lines}"""

AGAIN = """\
Your reply could not be read: {problem} Reply once more with the JSON object alone:
{{"calls": [{{"tool": "name", "arguments": {{"argument": "value"}}}}]}}"""

RESULTS = "Results of step {step}:"

NO_CALLS = "Step {step} made no call: {problem}"

NOT_RUN = "Calls after the first {batch} of the step were not run."

DECIDE = """\
Look at the results so far and at the task again, which was:

{question}

Is everything there that its answer needs? Reply with one word, yes or no."""

REPLY = """\
The work with tools is over. Write the answer to the task from the results above, for the person who asked: plain \
words, nothing about tools or steps, nothing that the results do not show. Where the task names fields to hand in, end \
with them as one JSON object, the fields' names as keys."""
