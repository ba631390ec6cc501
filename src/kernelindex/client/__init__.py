"""The same questions from Python."""

from kernelindex.client.local import Client

__all__ = ["Client"]
