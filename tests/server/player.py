"""A client that is made to be killed: starts a server, opens a run and calls without end.

Run as a program with the path of a file and the server's command line. The first line of the file is the
server's process number, each further one the id of a call that was answered.
"""

import json
import os
import subprocess
import sys
import time

IN_FLIGHT = 2
PAUSE_SECONDS = 0.03


def main(log: str, command: list[str]) -> None:
    """Play until killed, or until the server is."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdin is not None
    assert server.stdout is not None
    stdin, stdout = server.stdin, server.stdout
    file = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, b"%d\n" % server.pid)

    def send(id: int, method: str, params: dict[str, object]) -> None:
        stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n")
        stdin.flush()

    def add(id: int) -> None:
        send(id, "tools/call", {"name": "math__add", "arguments": {"firstNumber": id, "secondNumber": int(log[-3:])}})

    info = {"name": "player", "version": "1"}
    send(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
    stdout.readline()
    send(1, "tools/call", {"name": "start_task", "arguments": {"task_id": "sum-1"}})
    stdout.readline()
    sent = 1
    for _ in range(IN_FLIGHT):
        sent += 1
        add(sent)
    while line := stdout.readline():
        os.write(file, b"%d\n" % json.loads(line)["id"])
        # Seven others want to play too.
        time.sleep(PAUSE_SECONDS)
        sent += 1
        add(sent)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
