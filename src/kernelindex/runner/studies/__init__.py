"""Studies of the runner itself: equal code must not win, more work must lose.

A/A: identical candidates in one batch, every pair judged. Known difference: the same kernel
with a known share of more bytes. Both are batches like any other, so they test what is used.
"""

from kernelindex.runner.studies.plans import StudySize, study_plan
from kernelindex.runner.studies.results import StudyResult, Tally, read_study

__all__ = ["StudyResult", "StudySize", "Tally", "read_study", "study_plan"]
