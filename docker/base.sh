#!/usr/bin/env bash
# Makes a base image without a registry: Debian 12 with Python, out of Debian's packages. Takes a minute and root.
#
#   docker/base.sh [NAME]     then     m3bench image build --base NAME
#
# BASE_PACKAGES=HASH refuses any other packages than those an earlier base was made of.
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
# Which packages these are: a mirror changes, and the same hash means the same packages to the byte.
packages=$(cd "$folder/root/var/cache/apt/archives" && sha256sum ./*.deb | sha256sum | cut -d ' ' -f 1)
if [ -n "${BASE_PACKAGES:-}" ] && [ "$BASE_PACKAGES" != "$packages" ]; then
  echo "$mirror has other packages than BASE_PACKAGES says: their hash is $packages." >&2
  exit 1
fi
# What a container never looks at. The licences stay: the list of what is in an image names them.
find "$folder/root/usr/share/doc" -type f ! -name copyright -delete
rm -rf "$folder"/root/var/{cache/apt,lib/apt/lists,log}/* "$folder"/root/usr/share/{info,locale,man}
tar --create --sort=name --numeric-owner --directory "$folder/root" --exclude=./dev --exclude=./proc --exclude=./sys . \
  | docker import --change 'CMD ["python3"]' --change "LABEL io.m3bench.packages=$packages" - "$name" >/dev/null
echo "Made of packages with the hash $packages"
