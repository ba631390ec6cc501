"""The controlled runner: what turns a reported number into evidence.

This package file stays standard library only. The worker, probe, judge, operations and
sandbox run on machines where nothing of the index is installed.
"""
