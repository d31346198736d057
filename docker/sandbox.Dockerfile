# What a run's tools live in: Python, the libraries of the tool servers, the host, the servers and the world.
# No task, reference, check or scorer; no shell, package manager or any other program. `m3bench image build` makes the
# context (m3bench/, wheels/, the two scripts) and fills in the arguments. The build reaches no network; what it makes
# depends on the base image and the context alone.
ARG BASE=python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d

FROM ${BASE} AS libraries
ARG EPOCH=1761998400
ENV PYTHONHASHSEED=0
COPY wheels /wheels
COPY sbom.py /sbom.py
# pip runs out of its own wheel and is not installed. Tests of libraries stay out; bytecode is made here, because in a
# container nothing can be written beside the source.
RUN PYTHONPATH=$(echo /wheels/pip-*.whl) python3 -m pip install --no-index --no-deps --no-compile --no-cache-dir \
        --disable-pip-version-check --root-user-action=ignore --quiet --target /image/m3bench/lib $(ls /wheels/*.whl | grep -v /wheels/pip-) \
    && rm -rf /image/m3bench/lib/bin \
    && find /image/m3bench/lib -type d -name tests -prune -exec rm -rf {} + \
    && python3 -m compileall -q --invalidation-mode unchecked-hash -s /image -p / /image/m3bench/lib \
    && python3 /sbom.py /image/m3bench/lib /image/m3bench/sbom.json \
    && find /image -exec touch -h -d @${EPOCH} {} +

FROM ${BASE} AS code
ARG EPOCH=1761998400
ENV PYTHONHASHSEED=0
COPY m3bench /image/m3bench/code/m3bench
RUN python3 -m compileall -q --invalidation-mode unchecked-hash -s /image -p / /image/m3bench/code \
    && mkdir -p /empty/workspace \
    && find /image /empty -exec touch -h -d @${EPOCH} {} +

FROM ${BASE} AS bare
COPY bare.py /bare.py
RUN ["python3", "-I", "-S", "-B", "/bare.py", "1761998400"]

FROM scratch
COPY --from=bare / /
COPY --from=libraries /image/ /
COPY --from=code /image/ /
COPY --from=code --chown=10001:10001 /empty/ /
# One thread per library: the same sums in the same order, and no memory set aside for more.
ENV PATH=/usr/local/bin:/usr/bin:/bin PYTHONPATH=/m3bench/code:/m3bench/lib PYTHONDONTWRITEBYTECODE=1 LANG=C.UTF-8 \
    HOME=/tmp OMP_THREAD_LIMIT=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=2
USER 10001:10001
WORKDIR /workspace
ENTRYPOINT ["python3", "-P", "-s", "-X", "utf8", "-m", "m3bench.sandboxes.host"]
CMD ["--workspace", "/workspace"]
ARG VERSION
ARG MANIFEST
LABEL io.m3bench.version=${VERSION} io.m3bench.manifest=${MANIFEST}
