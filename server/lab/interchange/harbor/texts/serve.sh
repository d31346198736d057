#!/bin/sh
# Serves one task to the agent: serve.sh TASK PROFILE MINUTES. The operator's token is told to nobody, so that no page
# shows a score or a reference.
set -eu
M3BENCH_OPERATOR_TOKEN=$(python3 -c 'import secrets; print(secrets.token_hex(32))')
export M3BENCH_OPERATOR_TOKEN
exec sh /m3bench/harbor/m3bench.sh serve --ranked --http 127.0.0.1:8000 --task "$1" --profile "$2" --max-minutes "$3"
