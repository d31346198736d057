"""Configuration files as they are found on people's machines, by format."""

from m3bench.server.clients.client import Format, McpClient

_JSON = {
    "one server": """{
  "theme": "dark",
  "KEY": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ann/notes"]
    }
  },
  "last": [1, 2.5e3, null]
}
""",
    "no servers": '{\n    "globalShortcut": "Ctrl+Space",\n    "numStartups": 12\n}',
    "an empty list of servers": '{\n  "KEY": {}\n}\n',
    "nothing": "",
    "an empty object": "{}",
    "an empty object over two lines": "{\n}\n",
    "blanks alone": "\n\n",
    "minified": '{"numStartups":3,"KEY":{"files":{"command":"npx","args":[]}},"tips":{}}',
    "tabs": '{\n\t"KEY": {\n\t\t"files": {\n\t\t\t"command": "npx"\n\t\t}\n\t}\n}\n',
    "four blanks, last member on the line of the brace": '{\n    "KEY": {"files": {"command": "npx"}}}\n',
    "a server on one line": '{"KEY": {"files": {"command": "npx"}}}\n',
    "texts that look like structure": '{"a": "} // \\" {", "KEY": {"x": {"command": "/* no */"}}}\n',
    "ours from another day": '{"KEY": {"m3bench": {"command": "/old/m3bench", "args": ["serve"]}, "b": {}}}',
}

_JSONC = {
    "comments everywhere": """// my servers
{
  /* before */ "KEY": { // here they are
    "files": {
      "command": "npx" // the usual
    } // end of files
    // "old": {"command": "gone"}
  },
  "inputs": [] /* none */
}
// the end""",
    "trailing commas": '{\n  "KEY": {\n    "files": {"command": "npx",},\n  },\n}\n',
    "an empty list with a comment": '{\n  "KEY": {\n    // none yet\n  }\n}\n',
    "comments alone": "// nothing yet\n",
}

_TOML = {
    "servers and tables": """# Codex
model = "gpt-5"  # the big one
notify = [
  "say",
  # ] not the end
]

[KEY.files]
command = "npx"
args = ["-y", "files"]

[KEY.files.env]
A = "[KEY.m3bench]"

[[hooks]]
name = \'\'\'
[KEY.m3bench]
\'\'\'
# at the end
""",
    "no servers": 'model = "gpt-5"\n',
    "no line break at the end": 'model = "gpt-5"',
    "nothing": "",
    "comments alone": "# nothing yet\n",
    "dotted keys": 'KEY.files.command = "npx"\nKEY.files.args = []\n',
    "inline": 'KEY = { files = { command = "npx" } }\n',
    "ours from another day": '[KEY.m3bench]\ncommand = "/old/m3bench"\nargs = []\n\n# next\n[tui]\ntheme = "x"\n',
}

_YAML = {
    "servers and settings": """# Goose
GOOSE_PROVIDER: anthropic   # which
KEY:
  developer:
    bundled: true
    enabled: true
    args:
    - one
    - "two: three" # odd
    text: |
      several
      lines

# the rest
GOOSE_MODE: auto
""",
    "no servers": "version: 1.2.1\ncache: true\n",
    "no line break at the end": "version: 1.2.1",
    "nothing": "",
    "comments alone": "# nothing yet\n",
    "an empty list of servers": "KEY: {}\nversion: 1\n",
    "a list of servers without any": "version: 1\nKEY:\n# none yet\nother: 2\n",
    "flow": "KEY: {files: {command: npx}}  # short\n",
    "four blanks": "KEY:\n    files:\n        command: npx\n        env:\n",
    "a document start": "---\nKEY:\n  files: {command: npx}\n",
    "ours from another day": "KEY:\n  m3bench:\n    cmd: /old/m3bench\n    command: x\n  b:\n    enabled: true\nz: 1\n",
}

_YAML_LIST = {
    "servers and settings": """# Continue
name: mine   # which
KEY:
  - name: files
    command: npx
    args:
    - one
    - "two: three" # odd
  # from the hub
  - uses: someone/something

# the rest
models: []
""",
    "no servers": "name: mine\nversion: 1.2.1\n",
    "no line break at the end": "version: 1.2.1",
    "nothing": "",
    "comments alone": "# nothing yet\n",
    "an empty list of servers": "KEY: []\nversion: 1\n",
    "a list of servers without any": "version: 1\nKEY:\n# none yet\nother: 2\n",
    "flow": "KEY: [{name: files, command: npx}]  # short\n",
    "a list that is not indented": "KEY:\n- name: files\n  command: npx\n  env:\nz: 1\n",
    "a dash on a line of its own": "KEY:\n  -\n    name: files\n    command: npx\n",
    "a document start": "---\nKEY:\n  - {name: files, command: npx}\n",
    "ours from another day": "KEY:\n- name: m3bench\n  command: /old/m3bench\n  args: [a]\n- name: b\nz: 1\n",
}

_BY_FORMAT: dict[Format, dict[str, str]] = {
    "json": _JSON,
    "jsonc": {**_JSON, **_JSONC},
    "toml": _TOML,
    "yaml": _YAML,
    "yaml list": _YAML_LIST,
}

_BROKEN: dict[Format, dict[str, str]] = {
    "json": {
        "cut off": '{"KEY": {',
        "a list": "[1, 2]",
        "a number": "7",
        "servers are a list": '{"KEY": []}',
        "servers are null": '{"KEY": null}',
        "two documents": "{} {}",
        "a missing comma": '{"a": 1 "b": 2}',
        "single quotes": "{'a': 1}",
        "a comment without end": "{} /* ",
        "a text without end": '{"a": "b',
        "not a number": '{"a": NaN}',
        "too deep": "[" * 100_000,
    },
    "toml": {"cut off": "[KEY", "servers are a text": 'KEY = "x"\n', "twice": "a = 1\na = 2\n"},
    "yaml": {
        "cut off": "KEY: {",
        "a list": "- 1\n",
        "a text": "hello\n",
        "servers are a list": "KEY:\n- a\n",
        "servers are a text": "KEY: x\n",
        "two documents": "a: 1\n---\nb: 2\n",
        "twice": "a: 1\na: 2\n",
        "tabs": "KEY:\n\ta: 1\n",
        "not YAML of one kind": "a: 1\n...\nrubbish: [\n",
    },
}
_BROKEN["jsonc"] = _BROKEN["json"]
_BROKEN["yaml list"] = {
    **{name: text for name, text in _BROKEN["yaml"].items() if name != "servers are a list"},
    "servers are a mapping": "KEY:\n  a: {command: x}\n",
    "servers are texts": "KEY:\n- a\n",
    "one name for two": "KEY:\n- name: a\n- name: a\n",
}


def found(client: McpClient) -> dict[str, bytes]:
    """Files that may be there, by what is special about them; with line ends and marks of other systems."""
    files = {name: _of(text, client) for name, text in _BY_FORMAT[client.format].items()}
    first = next(iter(files.values()))
    return {
        **files,
        "line ends of Windows": first.replace(b"\n", b"\r\n"),
        "a byte order mark": b"\xef\xbb\xbf" + first,
        "a mark alone": b"\xef\xbb\xbf",
        "other languages": first.replace(b"npx", "näpx 包 🦀".encode()),
    }


def broken(client: McpClient) -> dict[str, bytes]:
    """Files that cannot be edited."""
    files = {name: _of(text, client) for name, text in _BROKEN[client.format].items()}
    return {**files, "not UTF-8": b"\xff\xfe{\x00", "latin 1": b'{"a": "\xe4"}', "zeros": bytes(64)}


def _of(text: str, client: McpClient) -> bytes:
    return text.replace("KEY", client.servers[0]).encode()
