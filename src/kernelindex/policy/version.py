"""The version of everything in this package, stored with every derived row."""

from __future__ import annotations

POLICY_VERSION = "policy/10"
"""Changes whenever a cohort, verdict, rank, level, doubt or limit could come out otherwise."""
