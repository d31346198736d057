#!/bin/sh
# Runs a program as the user that owns the tasks, the references and the record; without what the agent could have set.
set -eu
exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs env -i \
    PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 HOME=/data TMPDIR=/data M3BENCH_DATA=/data OMP_THREAD_LIMIT=1 \
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=2 PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/m3bench/code:/m3bench/lib "$@"
