"""``ki evidence``: keys of runners, signing batches, verifying bundles offline."""

from __future__ import annotations

import click

from kernelindex.cli.lazy import LazyGroup

_COMMANDS = "kernelindex.cli.evidence."
LAZY = {
    "verify": (_COMMANDS + "verify", "verify bundles offline, by public keys alone"),
    "show": (_COMMANDS + "show", "what a bundle holds: signer, batch, runs, files"),
    "sign": (_COMMANDS + "sign", "sign a batch that the worker measured"),
    "abort": (_COMMANDS + "abort", "sign that a planned batch will never be measured"),
    "keys": (_COMMANDS + "keys", "make, list, approve and revoke keys of runners"),
}


@click.group(name="evidence", cls=LazyGroup, lazy=LAZY, short_help="sign and verify evidence")
def command() -> None:
    """Sign what a runner measured, and verify what others signed.

    Verifying needs no index and no network: a bundle and a public key are enough.
    """
