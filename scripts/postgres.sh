#!/bin/sh
# Make sure PostgreSQL's server programs are on this machine, for the tests and benchmarks that
# start a server of their own. Never touches a running server. Where they cannot be installed the
# tests count what they skip, aloud.
set -eu

have() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; }

have && exit 0
if [ "$(id -u)" = 0 ]; then as=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as="sudo"
else
    echo "PostgreSQL is not here. To test on it, type: sudo apt-get install -y postgresql" >&2
    exit 0
fi
echo "Installing PostgreSQL's server programs …" >&2
$as apt-get update -qq >/dev/null 2>&1 || true
# The package would start a cluster of its own; the tests want only the programs.
$as mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" | $as tee /etc/postgresql-common/createcluster.conf >/dev/null
DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends postgresql >/dev/null ||
    echo "PostgreSQL could not be installed; its tests will be skipped and counted." >&2
