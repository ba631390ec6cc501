"""Cheats and awkward kernels as fixtures, each with an honest twin, and the codes they are caught under."""
