# Sourced by the other scripts: install Debian packages where this user may.

say() { printf '%s\n' "$*" >&2; }

# Prints the prefix that makes a command run as root; fails where there is none without a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then echo ""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then echo "sudo"
    else return 1; fi
}

apt_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    root=$(as_root) || return 1
    $root apt-get update -qq >/dev/null 2>&1 || true
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
