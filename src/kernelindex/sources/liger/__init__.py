"""Liger-Kernel's published benchmark CSV, as manifests.

``read`` streams rows; ``table`` holds what each upstream script did, reviewed by hand.
"""

from kernelindex.sources.liger.reading import PARSER_VERSION, SOURCE, read

__all__ = ["PARSER_VERSION", "SOURCE", "read"]
