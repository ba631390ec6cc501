"""Guards round a candidate's calls: what was patched, left changed, or not really returned.

Use, in the probe:

    guards = Guards.capture(device)      before anything of the candidate is imported
    guards.loaded()                      after its import: findings
    guards.before(checked)               just before a checked call
    guards.after(checked)                as soon as the candidate returned: findings
    guards.timed()                       after a timed part: identities and flags only
    guards.forget()                      before timing: lets go of the outputs held

They run in the candidate's own process, so code that knows them can deceive them. What cannot be
deceived from inside is measured outside: the worker's wall clock, and the judge's process.
"""

from __future__ import annotations

from kernelindex.runner.probe.guards.watching import Guards

__all__ = ["Guards"]
