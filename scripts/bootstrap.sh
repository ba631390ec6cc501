#!/bin/sh
# For a machine without make: install it where this user may, then run the target (default: run).
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh
command -v make >/dev/null 2>&1 || apt_install make || {
    say "make is missing. Type: sudo apt-get install -y make"
    exit 1
}
exec make "${1:-run}"
