"""Which source operations and implementations are the same as ours, reviewed by hand.

Data: every JSON file beside this module, each with any of

- ``groups``: ``{slug, basis, axes?, tensors?, dropped?, computes?, members: [{digest, name,
  constants?}]}``; without ``axes`` a group's axes already have our names;
- ``unmapped``: ``{operation digest: upstream name}``, reviewed and not surely equal to any;
- ``lines``: implementations listed one by one;
- ``rules``: how a source's other implementations fall into lines.
"""

from kernelindex.registry.equivalence.lines import LineInfo, map_line
from kernelindex.registry.equivalence.operations import (
    OperationMapping,
    load_mappings,
    map_operation,
    upstream_name,
)

__all__ = [
    "LineInfo",
    "OperationMapping",
    "load_mappings",
    "map_line",
    "map_operation",
    "upstream_name",
]
