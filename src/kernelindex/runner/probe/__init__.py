"""The process that a candidate lives and is timed in; standard library, torch and NVML only.

``python -m kernelindex.runner.probe --channel FD`` answers the worker's commands
(``kernelindex.runner.channel``); ``python -m kernelindex.runner.probe.check --device cuda:0``
exercises every path on a device and prints PASS or FAIL for each.
"""
