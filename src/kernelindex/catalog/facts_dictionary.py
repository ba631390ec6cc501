"""What the facts of most runs have in common, which need not be stored with each.

Given to zstd as a dictionary it leaves 0.5 to 0.7 KB of 2.4 KB of facts, for 9 us of
writing and 4 us of reading; without one 1.2 KB are left.
"""

from __future__ import annotations

__all__ = ["SAMPLE"]

SAMPLE = b"".join(
    (
        b'{"digest":"sha256:","status":"passed","primary":{"metric":"score","statistic":"geomean",',
        b'"unit":"s","value":0.00001,"direction":"lower"},"primary":{"metric":"latency",',
        b'"statistic":"median","unit":"ns","value":1,"direction":"lower"},"primary_problem":null,',
        b'"spread":null,"spread":{"kind":"p05-p95","low":2,"high":5},"interval":null,',
        b'"sample_count":null,"shape":{"operation":"sha256:","family":"gemm","mapped":true,',
        b'"axes":[["cols",1024],["rows",64]],"dtypes":[["bias","fp32"],["w","bf16"],["x","fp16"]],',
        b'"distribution":null,"distribution":"suite:sha256:"},"timed_pass":"unstated",',
        b'"protocol":{"profile":"source_native","name":"reference","version":"1","rules":[]},',
        b'"correctness_key":"sha256:","correctness":{"asserted":true,"comparator":"allclose",',
        b'"max_absolute_error":null,"max_relative_error":null,"matched_ratio":null},',
        b'"device":{"vendor":"nvidia","product":"H200 SXM 141GB","family":"H200",',
        b'"architecture":"sm_90","form_factor":"SXM5","memory":"141 GiB","mig":"unstated",',
        b'"count":"unstated","interconnect":"unstated","ecc":"unstated","power_limit":"unstated",',
        b'"clock_policy":"unstated","confidential":"unstated","product_id":"h200-sxm-141gb",',
        b'"label":"H200 SXM 141GB"},"line":{"id":"project/","title":"","project":"",',
        b'"entry_point":"","restated":false,"restates":null},"revision":"submission-",',
        b'"implementation_digest":"sha256:","workload_digest":"sha256:","operation_digest":',
        b'"sha256:","implementation_operation_digest":"sha256:","protocol_digest":"sha256:",',
        b'"environment_digest":"sha256:","stack":[],"stack":[["driver","550.54"]],"source":',
        b'"gpumode-kernelbot","observed":{"text":"2026-03-14T23:54:00.331Z","zone":"utc",',
        b'"date":"2026-03-14"},"cost":null,"source_doubts":[],"bound":[],"superseded_by":null,',
        b'"retracted":null,"inferred":false,"stated":["source"],"samples":null,"telemetry":null,',
        b'"extra":{"benchmark":"","external_id":"submission/","peak_memory_bytes":null,',
        b'"traits":null}}',
    )
)
"""Rows written with another sample cannot be read: it is part of the derived version."""
