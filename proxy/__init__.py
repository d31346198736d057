"""The proxy: what a client connects to, and what takes its calls to where tools run.

The way of a call, file by file:

1. `transports/stdio.py` or `transports/http_calls.py` reads it; `transports/client_calls.py` takes it past the SDK.
2. `front.py` makes a request of it, with the moment it arrived (`protocol/tool_calls.py`).
3. `router.py` finds out which tool is meant (`names.py`) and makes a `Call` of it, on a seat (`seat.py`).
4. `call.py` leads it through its life: recorded, sent, answered, settled; no answer leaves that is not on record.
5. `router.py` sends it on: to our own tools, the run's sandbox, or `upstreams/servers.py`.
6. `front.py` puts the answer into the envelope of the client's revision, and the transport writes it.

Which calls were one step is found out later, from the record: `steps/segmentation.py`. Everything that is not a tool
call is left to the SDK (`transports/sdk_server.py`).
"""
