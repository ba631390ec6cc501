"""What an import did, as counts that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from kernelindex.catalog.intake import ImportReport


def print_report(report: ImportReport) -> None:
    """Counts first, then skips by reason, what rows became, and problems."""
    from kernelindex.cli.render.pairs import mapping_words, print_list, print_pairs
    from kernelindex.cli.terminal import show

    skipped = sum(report.skipped.values())
    counts = [
        ("read", f"{report.read:,}"),
        ("added", f"{report.added:,}"),
        ("existing", f"{report.existing:,}"),
        ("superseding", f"{report.superseding:,}"),
        ("skipped", f"{skipped:,}"),
    ]

    if report.corrections:
        counts.append(("corrections", mapping_words(dict(report.corrections))))

    def draw(screen: Console) -> None:
        if report.dry_run:
            screen.print("dry run: nothing was stored", style="bold")
        print_pairs(screen, counts)
        print_pairs(screen, sorted(report.skipped.items()), "Skipped, by reason")
        print_list(screen, "Became", [mapping_words(dict(report.becomes))])
        print_list(screen, "Problems", report.problems)

    show(draw)
