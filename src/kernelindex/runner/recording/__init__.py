"""A batch folder -> manifests: what was measured, on what, by which rules, where and by whom."""

from kernelindex.runner.recording.batch import Batch, BatchError, Series, read_batch
from kernelindex.runner.recording.record import RecordedRun, RunnerFacts, record_batch

__all__ = [
    "Batch",
    "BatchError",
    "RecordedRun",
    "RunnerFacts",
    "Series",
    "read_batch",
    "record_batch",
]
