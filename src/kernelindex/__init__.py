"""KernelIndex: find the fastest GPU kernel you can trust for an exact workload.

This package file stays standard library only, because the benchmark worker
imports it on machines where nothing else is installed.
"""

__version__ = "0.1.0"
