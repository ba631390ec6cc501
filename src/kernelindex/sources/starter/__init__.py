"""Evidence that travels in the package, so that a first question has an answer.

- ``liger.csv``: the header and two rows of ``benchmark/data/all_benchmark_data.csv`` of
  linkedin/Liger-Kernel at ead96b61, byte for byte, BSD-2-Clause (``liger.LICENSE``). They
  are read by the Liger source itself, so that importing the whole file finds them.
- ``original.json``: what the page this began with called the same objects; kept as aliases.
- ``h200.json``: our own H200 measurements of 2026-11-30 (``scripts/build_starter_h200.py``),
  as reported and unsigned; ``candidates.json`` says what ran.
"""

from kernelindex.sources.starter.reading import PARSER_VERSION, SOURCE, read

__all__ = ["PARSER_VERSION", "SOURCE", "read"]
