# The benchmark itself, serving HTTP: the sandbox image with the proxy, the tasks and the scorer on top.
# Made by `m3bench image build` like that one; only what is not in it already comes with the context.
ARG BASE=python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
ARG SANDBOX=m3bench-sandbox

FROM ${SANDBOX} AS sandbox

FROM ${BASE} AS build
ARG EPOCH=1761998400
ENV PYTHONHASHSEED=0
COPY sbom.py /sbom.py
COPY --from=sandbox /m3bench/sbom.json /sandbox.json
COPY wheels /wheels
COPY m3bench /image/m3bench/code/m3bench
COPY metadata /image/m3bench/code
RUN PYTHONPATH=$(echo /wheels/pip-*.whl) python3 -m pip install --no-index --no-deps --no-compile --no-cache-dir \
        --disable-pip-version-check --root-user-action=ignore --quiet --target /image/m3bench/lib $(ls /wheels/*.whl | grep -v /wheels/pip-) \
    && rm -rf /image/m3bench/lib/bin \
    && cd /image/m3bench/lib/all_minilm_l6_v2 && python3 -m zipfile -e model.zip model && rm model.zip && cd / \
    && find /image/m3bench/lib -type d -name tests -prune -exec rm -rf {} + \
    && python3 -m compileall -q --invalidation-mode unchecked-hash -s /image -p / /image/m3bench \
    && python3 /sbom.py /image/m3bench/lib /image/m3bench/sbom.json /sandbox.json \
    && mkdir -p /empty/data \
    && find /image /empty -exec touch -h -d @${EPOCH} {} +

FROM sandbox
COPY --from=build /image/ /
COPY --from=build --chown=10001:10001 /empty/ /
ENV M3BENCH_DATA=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["python3", "-P", "-s", "-X", "utf8", "-m", "m3bench.server.cli"]
CMD ["serve", "--http", "0.0.0.0:8000"]
ARG VERSION
ARG MANIFEST
LABEL io.m3bench.version=${VERSION} io.m3bench.manifest=${MANIFEST}
