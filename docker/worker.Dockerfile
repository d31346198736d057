# What plays studies: the service's image with Inspect and the packages of models' providers on top.
# Made by `m3bench image build --worker PACKAGE`; only what is not in the other image already comes with the context.
ARG BASE=python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
ARG SERVICE=m3bench

FROM ${SERVICE} AS service

FROM ${BASE} AS build
ARG EPOCH=1761998400
ENV PYTHONHASHSEED=0
COPY sbom.py /sbom.py
COPY --from=service /m3bench/sbom.json /service.json
COPY wheels /wheels
RUN PYTHONPATH=$(echo /wheels/pip-*.whl) python3 -m pip install --no-index --no-deps --no-compile --no-cache-dir \
        --disable-pip-version-check --root-user-action=ignore --quiet --target /image/m3bench/lib $(ls /wheels/*.whl | grep -v /wheels/pip-) \
    && rm -rf /image/m3bench/lib/bin \
    && find /image/m3bench/lib -type d -name tests -prune -exec rm -rf {} + \
    && python3 -m compileall -q --invalidation-mode unchecked-hash -s /image -p / /image/m3bench \
    && python3 /sbom.py /image/m3bench/lib /image/m3bench/sbom.json /service.json \
    && find /image -exec touch -h -d @${EPOCH} {} +

FROM service
COPY --from=build /image/ /
HEALTHCHECK NONE
CMD ["lab", "worker"]
ARG VERSION
ARG MANIFEST
LABEL io.m3bench.version=${VERSION} io.m3bench.manifest=${MANIFEST}
