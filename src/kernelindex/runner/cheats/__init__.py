"""Cheats and awkward kernels as fixtures, each with an honest twin, and their reason codes."""
