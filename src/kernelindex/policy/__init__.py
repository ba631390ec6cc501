"""How we judge: cohorts, verdicts, ranks, levels, doubts and limits; pure and versioned."""

from kernelindex.policy.judging import JudgeContext, JudgedCohort, JudgedEntry, judge_cohort
from kernelindex.policy.ranking import Ranked, Ranking, rank
from kernelindex.policy.verdicts import Verdict, VerdictKind, compare
from kernelindex.policy.version import POLICY_VERSION

__all__ = [
    "POLICY_VERSION",
    "JudgeContext",
    "JudgedCohort",
    "JudgedEntry",
    "Ranked",
    "Ranking",
    "Verdict",
    "VerdictKind",
    "compare",
    "judge_cohort",
    "rank",
]
