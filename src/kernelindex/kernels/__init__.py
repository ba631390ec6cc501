"""Kernels of our own: one folder an operation, with its op, kernels, configuration and reference.

They stand alone: PyTorch, Triton and the standard library, and nothing else of this package. Neither
is imported until an operation is used.
"""
