"""Fail when branch coverage falls below the committed floor; say when the floor may rise."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from coverage import Coverage

FLOOR_FILE = Path(__file__).parent.parent / "tests" / "coverage_floor.txt"


def main() -> int:
    """Compare the last run's coverage with ``tests/coverage_floor.txt``."""
    floor = float(FLOOR_FILE.read_text().split()[0])
    coverage = Coverage()
    try:
        coverage.load()
        measured = coverage.report(file=io.StringIO())
    except Exception as error:
        print(f"no coverage to read ({error}); run `make test` first", file=sys.stderr)
        return 1
    if measured < floor:
        print(f"coverage {measured:.1f} % fell below the floor of {floor:.1f} %", file=sys.stderr)
        return 1
    if measured > floor + 1:
        print(f"coverage {measured:.1f} %: raise the floor of {floor:.1f} % in {FLOOR_FILE.name}")
    else:
        print(f"coverage {measured:.1f} % (floor {floor:.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
