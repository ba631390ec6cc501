"""The worker: runs a plan on this machine and leaves a batch folder.

``python -m kernelindex.runner.worker PLAN --out DIR``; standard library only. It starts the
judge and the candidates' processes, decides what is called when, keeps the clock that counts,
and trusts nothing that a candidate's process says.
"""
