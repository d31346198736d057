#!/usr/bin/env bash
# Makes a base image without a registry: Debian 12 with Python, out of Debian's packages. Takes a minute and root.
#
#   docker/base.sh [NAME]     then     m3bench image build --base NAME
set -euo pipefail

name=${1:-m3bench-base:bookworm}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
if docker image inspect "$name" >/dev/null 2>&1; then
  exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "Making $name ..."
if ! debootstrap --variant=minbase --include=python3 bookworm "$folder/root" "$mirror" >"$folder/log" 2>&1; then
  tail -n 5 "$folder/log" >&2
  echo "debootstrap failed: is $mirror reachable? DEBIAN_MIRROR names another." >&2
  exit 1
fi
# What a container never looks at.
rm -rf "$folder"/root/var/{cache/apt,lib/apt/lists,log}/* "$folder"/root/usr/share/{doc,info,locale,man}
tar --create --sort=name --numeric-owner --directory "$folder/root" --exclude=./dev --exclude=./proc --exclude=./sys . \
  | docker import --change 'CMD ["python3"]' - "$name" >/dev/null
