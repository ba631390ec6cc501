#!/bin/sh
# Install what tests and benchmarks use beside Python: `sh scripts/packages.sh postgresql chromium`.
# Never touches a running server. Where a package cannot be installed, the one line to type is
# printed, and the tests that need it are skipped and counted aloud.
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

have() {
    case $1 in
        postgresql) ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 ;;
        chromium) command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ;;
        libatomic1) ldconfig -p | grep -q libatomic.so.1 ;; # the browser driver's, not in a minimal Debian
        fonts-liberation) ls /usr/share/fonts/truetype/liberation*/LiberationSans-Regular.ttf >/dev/null 2>&1 ;;
        *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

for name in "$@"; do
    have "$name" && continue
    say "Installing $name …"
    if [ "$name" = postgresql ] && root=$(as_root); then
        # The package would start a cluster of its own; the tests want only the programs.
        $root mkdir -p /etc/postgresql-common
        [ -e /etc/postgresql-common/createcluster.conf ] ||
            echo "create_main_cluster = false" | $root tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    apt_install "$name" || say "$name is not here. Type: sudo apt-get install -y $name"
done
