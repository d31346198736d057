"""m3bench's tasks as a taskset of verifiers: `vf-eval m3bench-verifiers`.

Nothing of m3bench is imported: `m3bench serve --openenv` is started, or named by its address, and asked over HTTP.
"""

from m3bench_verifiers.taskset import M3benchEnv, M3benchTaskset

__all__ = ["M3benchEnv", "M3benchTaskset"]
