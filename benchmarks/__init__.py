"""Speeds and sizes, each with its peer in the same run; never part of the tests."""
