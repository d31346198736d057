#!/usr/bin/env bash
# Makes a base image without a registry: Debian 12 with Python, out of Debian's packages. Takes a minute and root.
#
#   docker/base.sh [NAME]                        then     m3bench image build --base NAME
#   docker/base.sh --root FOLDER [PACKAGE ...]   the same as a folder to chroot into, with further packages
#
# BASE_PACKAGES=HASH refuses any other packages than those an earlier base was made of.
set -euo pipefail

mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

# Unpacks Debian with Python and further packages, separated by commas, into a folder.
unpack() {
  local root=$1 packages=$2 log
  log=$(mktemp)
  if ! debootstrap --variant=minbase --include="$packages" bookworm "$root" "$mirror" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    echo "debootstrap failed: is $mirror reachable? DEBIAN_MIRROR names another." >&2
    exit 1
  fi
  rm -f "$log"
}

if [ "${1:-}" = --root ]; then
  root=${2:?the folder is missing}
  shift 2
  unpack "$root" "$(IFS=,; echo "python3${*:+,$*}")"
  exit 0
fi

name=${1:-m3bench-base:bookworm}
if docker image inspect "$name" >/dev/null 2>&1; then
  exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "Making $name ..."
unpack "$folder/root" python3
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
