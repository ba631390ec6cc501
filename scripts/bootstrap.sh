#!/bin/sh
# For a machine without make: install it where this user may, then run the target (default: run).
set -eu
cd "$(dirname "$0")/.."
if ! command -v make >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then as=""; else as="sudo"; fi
    $as apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends make >/dev/null
fi
exec make "${1:-run}"
