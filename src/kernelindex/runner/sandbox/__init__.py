"""Keeping a candidate's process away from the network, the files and the other processes.

Three kinds, strongest first: ``bubblewrap`` where the program is there, ``namespaces``
where the kernel allows them, ``limits`` (own session, rlimits, no new privileges) always.
``find_isolation`` tries them for real; ``build_command`` wraps a command in what it found.
"""

from kernelindex.runner.sandbox.isolation import FEATURES, Isolation, build_command
from kernelindex.runner.sandbox.limits import Limits
from kernelindex.runner.sandbox.trying import find_isolation

__all__ = ["FEATURES", "Isolation", "Limits", "build_command", "find_isolation"]
