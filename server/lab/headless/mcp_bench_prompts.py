"""What the solver `mcp-bench` says to a model: prompts with the roles that MCP-Bench gives them, in our own words."""

ROUND = """\
You solve a task that begins with a picture, by calling tools in rounds. This is round {round} of at most {rounds}.

Look at what the results so far say and decide what is needed next. The calls of a round run at the same time: put \
together what does not need each other's results, and leave whatever needs a result that is not there yet for a later \
round. When the results hold all that the answer needs, say so and call nothing.

{form}

These are the tools, each with its description and the schema of its arguments:
{catalog}"""

ROUND_FORM = """\
Reply with one JSON object:
{"done": false, "why": "what is to be found out now", "calls": [{"tool": "name", "arguments": {"argument": "value"}}]}
or, when nothing more is needed:
{"done": true, "why": "what the answer rests on", "calls": []}"""

NATIVE_FORM = "Call the tools of this round directly, all in this one turn; when nothing more is needed, call none."

ONE_SHOT = """\
You solve a task that begins with a picture, by calling tools. You plan once, now: all calls that you will ever make, \
before the result of any of them is known. Calls of one step run at the same time, and steps run one after the other.

Reply with one JSON object, the steps in their order:
{{"why": "how the steps lead to the answer", "steps": [[{{"tool": "name", "arguments": {{"argument": "value"}}}}]]}}

These are the tools, each with its description and the schema of its arguments:
{catalog}"""

CORRECTION = "That could not be read: {problem} Write it once more, as one JSON object in the form above."

RESULTS = "Results of round {round}:"

COMPRESS = """\
A tool returned more than can be kept. Write down what of it the task may still need, in at most {limit} characters: \
names, numbers, identifiers, addresses and paths exactly as they stand, nothing that is not there, and no comment of \
your own.

The task:
{question}

What {tool} returned:
{text}"""

COMPRESSED = "(shortened from {length} characters) {text}"

ANSWER = """\
No more tools can be called. Write the answer to the task from the results above, complete and in plain words, and \
claim nothing that they do not show. Where the task names fields to hand in, end with them as one JSON object, the \
fields' names as keys."""
