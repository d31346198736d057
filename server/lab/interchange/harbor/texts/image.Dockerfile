# What runs beside the agent in every task: the m3bench server, with the tasks and their references; the verifier starts
# from it too. Build it once, in this folder, before the first `harbor run`:
#
#   docker build -t @IMAGE@ .
#
# The second image must have the Python that the first was made with, and a shell, which the first has not.
FROM @SERVICE@ AS m3bench

FROM @BASE@
COPY --from=m3bench /m3bench /m3bench
COPY . /m3bench/harbor
COPY --from=m3bench --chown=10001:10001 /data /data
COPY --from=m3bench --chown=10001:10001 /data /verdict
ENV PYTHONPATH=/m3bench/code:/m3bench/lib PYTHONDONTWRITEBYTECODE=1 LANG=C.UTF-8 HOME=/tmp M3BENCH_DATA=/data \
    OMP_THREAD_LIMIT=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=2
USER 10001:10001
WORKDIR /data
