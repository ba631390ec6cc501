"""The public KernelIndex export: one JSONL file (plain or zstd) of ``{table, row}`` lines.

``reading`` walks the lines, ``ledger`` remembers on disk what the file's own ids name,
``tables`` holds the list of tables, and one module reads each kind of row: ``objects``
(manifests), ``runs``, ``derived`` (rows that follow from runs, checked and not taken).
"""

from kernelindex.sources.export.reading import PARSER_VERSION, SOURCE, read

__all__ = ["PARSER_VERSION", "SOURCE", "read"]
