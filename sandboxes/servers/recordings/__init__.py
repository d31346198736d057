"""The `recordings` server: sound and film are described, cut, cleaned, written down, measured and shown as pictures.

It is offered only with tasks that need it. What it hears and sees, it hears and sees in the files themselves: nothing
is known of a recording beforehand. Its libraries come with the extra `sound`.
"""

from m3bench.sandboxes.servers.recordings.tools import server

__all__ = ["server"]
