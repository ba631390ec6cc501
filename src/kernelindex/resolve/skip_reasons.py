"""Why a reader did not take a row, in words, for every stable reason token."""

from __future__ import annotations

from kernelindex.evidence.report import CODES

REASONS = {
    "bad_column": "a column holds what it may not hold",
    "bad_number": "a number is not a number, or not a positive one",
    "bad_timestamp": "the time of measurement cannot be read",
    "bad_version": "the version cannot be read",
    "blank_line": "the line is empty",
    "blank_row": "the row is empty",
    "config_unknown": "its configuration is in no reviewed table",
    "derived_measurement_agrees": "repeats a number of a run that is taken, and agrees with it",
    "derived_measurement_differs": "repeats a number of a run that is taken, and differs from it",
    "derived_measurement_without_run": "a number of a run that the file does not hold",
    "derived_record_event_agrees": "a change of leader that is derived again here, and agrees",
    "derived_record_event_differs": "a change of leader that is derived again here, and differs",
    "derived_record_event_without_run": "a change of leader by a run that the file does not hold",
    "digest_differs": "its digest is not the one that is stated",
    "dtype_unknown": "no element type is stated, and no reviewed table supplies it",
    "folder_too_deep": "the file lies too deep in folders",
    "gpu_not_named": "no GPU is named",
    "kernel_unknown": "its kernel is in no reviewed table",
    "line_too_long": "the line is longer than is read",
    "malformed_row": "the row cannot be read",
    "metric_unknown": "its metric is not known",
    "missing_value": "a value is missing that nothing can be said without",
    "mode_unknown": "its mode is not known, so neither is the timed pass",
    "model_config_row": "measures a whole model, not one kernel",
    "not_a_manifest_file": "the file is no manifest",
    "not_a_regular_file": "it is no regular file",
    "not_a_table_row": "the line is no row of a table",
    "not_utf8": "the row is not UTF-8 text",
    "provider_ambiguous": "two backends wrote this label, so nobody knows which one ran",
    "not_expressible": "no manifest can say what it says",
    "provider_unknown": "its provider is in no reviewed table, so nobody knows what ran",
    "ragged_row": "the row has more or fewer columns than the header",
    "reference_not_in_file": "names an object that the file does not hold",
    "repeated_header": "repeats the header",
    "row_too_long": "the row is longer than is read",
    "source_in_registry": "describes a source that our own registry describes",
    "source_not_in_registry": "describes a source that our registry does not know",
    "symlink_refused": "a symbolic link, which is not followed",
    "unknown_table": "a row of a table that is not known",
}


def reason_words(token: str) -> str:
    """A reason in words; an unknown token as its own words."""
    family, _, code = token.partition(".")
    if family == "evidence" and code in CODES:
        return f"a bundle of evidence with a fault: {CODES[code]}"
    return REASONS.get(token) or token.replace("_", " ").replace(".", ": ")
