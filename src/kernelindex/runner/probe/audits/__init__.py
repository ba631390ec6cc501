"""Differential audits: two ways of calling that an honest candidate cannot tell apart.

Generation 0 only, untimed by the record. ``applicable(bench)`` names those that make sense for a
pass, a device and the inputs; ``run_audit(name, bench)`` gives findings, none for an honest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex.runner.probe.audits.bench import Bench
from kernelindex.runner.probe.audits.timings import (
    audit_content,
    audit_gap,
    audit_prediction,
    audit_upstream,
    audit_weights,
)
from kernelindex.runner.probe.audits.untimed import audit_untimed
from kernelindex.runner.probe.audits.values import (
    audit_address,
    audit_calls,
    audit_graph,
    audit_once,
    audit_reuse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex.runner.cheats.codes import Finding

__all__ = ["AUDITS", "Bench", "applicable", "run_audit"]

AUDITS: Mapping[str, Callable[[Bench], list[Finding]]] = {
    "once": audit_once,
    "reuse": audit_reuse,
    "calls": audit_calls,
    "address": audit_address,
    "content": audit_content,
    "graph": audit_graph,
    "upstream": audit_upstream,
    "weights": audit_weights,
    "prediction": audit_prediction,
    "gap": audit_gap,
    "untimed": audit_untimed,
}


def applicable(bench: Bench) -> list[str]:
    """Names of the audits that make sense here, in the order to run them."""
    needs = {
        # The outputs of backward are those of one forward outside.
        "reuse": bench.timed_pass != "backward",
        "once": bench.timed_pass == "backward",
        "graph": bench.timed_pass == "backward",
        "upstream": bench.timed_pass in {"backward", "full"},
        "weights": bench.training and bool(bench.static_names),
        "prediction": bench.count >= 2,
        "gap": bench.count >= 2,
    }
    return [name for name in AUDITS if needs.get(name, True)]


def run_audit(name: str, bench: Bench) -> list[Finding]:
    """Run one audit; raises KeyError for a name that is not in ``AUDITS``."""
    try:
        return AUDITS[name](bench)
    finally:
        bench.restore()
