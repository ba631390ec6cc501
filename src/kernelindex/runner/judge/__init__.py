"""The judge: makes inputs from a drawn seed, computes the reference, compares results.

It is trusted and runs in its own process; what candidates wrote reaches it as files that are
read with bounds. With torch it judges outputs and gradients on the device; without it, outputs
with numpy. ``refresh`` is shared with the probe.
"""
