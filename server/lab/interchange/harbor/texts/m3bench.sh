#!/bin/sh
# m3bench in this image, with the tasks of the dataset.
set -eu
[ ! -d /m3bench/harbor/set ] || set -- "$@" --tasks /m3bench/harbor/set
exec python3 -P -s -X utf8 -m m3bench.server.cli "$@"
