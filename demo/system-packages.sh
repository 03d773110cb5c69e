#!/usr/bin/env bash
# Make sure of what no Python index has: an interpreter with ensurepip, git, bubblewrap; for the tests (FOR_TESTS=1) a
# PostgreSQL server and a Chromium too; for the speed bench (FOR_BENCH=1) wrk, node and npm.
set -euo pipefail

if [ -z "${PYTHON:-}" ]; then
  echo "perf-gate needs a python3 of version 3.11 or newer on the PATH; this machine has none." >&2
  exit 1
fi
missing=()
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
  missing+=("python$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv")
command -v git >/dev/null || missing+=(git)
command -v bwrap >/dev/null || missing+=(bubblewrap)
if [ -n "${FOR_TESTS:-}" ] && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null; then
  missing+=(postgresql)
fi
if [ -n "${FOR_TESTS:-}" ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null &&
  ! command -v google-chrome >/dev/null; then
  missing+=(chromium)
fi
if [ -n "${FOR_BENCH:-}" ]; then
  command -v wrk >/dev/null || missing+=(wrk)
  command -v npm >/dev/null || missing+=(nodejs npm)
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "please install these system packages first: ${missing[*]} (on Debian: apt-get install ${missing[*]})" >&2
  exit 1
fi
echo "installing system packages: ${missing[*]}"
apt-get -qq -o DPkg::Lock::Timeout=300 update
DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends "${missing[@]}" >/dev/null
