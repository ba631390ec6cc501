#!/bin/sh
# Make .venv and install KernelIndex into it: `sh scripts/setup.sh core|dev`.
# Installs Debian's python3-venv by itself where it may; else prints the one line to type.
set -eu
cd "$(dirname "$0")/.."
what=${1:-core}

. scripts/apt.sh

find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    return 1
}

if ! python=$(find_python); then
    say "No Python 3.11 or newer here; installing it."
    apt_install python3 python3-venv || apt_install python3.11 python3.11-venv || true
    python=$(find_python) || {
        say "KernelIndex needs Python 3.11 or newer. Type: sudo apt-get install -y python3 python3-venv"
        exit 1
    }
fi

if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
        rm -rf .venv
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        apt_install python3-venv "python$version-venv" || apt_install python3-venv || {
            say "Python's venv module is missing. Type: sudo apt-get install -y python3-venv"
            exit 1
        }
        "$python" -m venv .venv
    fi
fi

pip() { .venv/bin/python -m pip --disable-pip-version-check --quiet "$@"; }

if [ "$what" = dev ]; then
    say "Installing KernelIndex with its test and check tools into .venv …"
    pip install -r requirements-dev.lock
    pip install --no-deps -e .
    touch .venv/.core .venv/.dev
else
    say "Installing KernelIndex into .venv …"
    pip install -r requirements.lock
    pip install --no-deps -e .
    touch .venv/.core
fi
