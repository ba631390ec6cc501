"""Kernels of our own: one folder an operation, with its op, kernels, configuration and reference.

They stand alone: PyTorch, Triton and the standard library, and nothing else of this package.
PyTorch and Triton are imported when an operation is first used.
"""
