"""Runs the portable kernels and the routing in Triton's interpreter; prints findings as JSON.

A program of its own: an environment variable chooses the interpreter before Triton is imported.
"""

from __future__ import annotations

import json
import os
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import torch
from triton.runtime import interpreter

from kernelindex.kernels.moe_mlp import reference
from kernelindex.kernels.moe_mlp.op import _Eager
from kernelindex.kernels.moe_mlp.routing import (
    ONE_BLOCK_SLOTS,
    Layout,
    Routing,
    plan_layout,
    route,
)
from kernelindex.kernels.moe_mlp.shape import Shape
from tests.kernels.moe_mlp_cases import Case, draw, relative_error, run

HALF = torch.float16  # the interpreter has no bf16 product
CASES = (
    Case(1, 4, 64, 64, 2, dtype=HALF),  # 16-row tiles, one routing kernel
    Case(20, 4, 64, 64, 2, dtype=HALF),  # 32-row tiles
    Case(30, 3, 64, 64, 3, dtype=HALF),  # 64-row tiles, K = E
    Case(70, 5, 64, 64, 2, "empty", HALF),
    Case(150, 9, 64, 128, 1, "one", HALF),  # 128-row tiles, one expert takes all
    Case(130, 3, 128, 64, 2, "skewed", HALF),  # two routing kernels
    Case(20, 4, 64, 64, 2, "outside", HALF),
    Case(150, 4, 64, 64, 2, "outside", HALF),
    Case(9, 4, 64, 64, 2, "nobody", HALF),
)
ROUTINGS = (
    Case(13, 5, 64, 64, 2),
    Case(200, 8, 64, 64, 4),
    Case(333, 7, 64, 64, 3, "empty"),
    Case(257, 9, 64, 64, 2, "one"),
    Case(400, 16, 64, 64, 3, "skewed"),
    Case(40, 3, 64, 64, 3),  # K = E, one routing kernel
    Case(130, 200, 64, 64, 2),  # more groups of 16 slots than programs that list them
    Case(40, 4, 64, 64, 3, "outside"),
    Case(300, 16, 64, 64, 3, "outside"),  # a power of two: no padding expert to fall into
    Case(300, 7, 64, 64, 3, "nobody"),
)


def accept_new_numpy() -> None:
    """NumPy 2.4 turns no array of one element into a number any more; the interpreter needs it."""
    patch = interpreter._patch_lang_tensor

    def patched(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patched


def check_kernels(case: Case) -> list[float]:
    """Relative error of output and gradients against fp64, through autograd."""
    inputs = draw(case)
    x, gate_up, down, index, w = (t.detach() for t in inputs)
    shape = Shape(case.tokens, case.hidden, case.inter, case.experts, case.top_k)
    dy = torch.randn(x.shape, generator=torch.Generator().manual_seed(1)).to(x.dtype)
    got = run(lambda *tensors: _Eager.apply(shape, *tensors), inputs, dy)
    exact = [t.double() for t in (x, gate_up, down)]
    wanted = [
        reference.forward(*exact, index, w.double()),
        *reference.backward(dy.double(), *exact, index, w.double()),
    ]
    return [relative_error(g, r) for g, r in zip(got, wanted, strict=True)]


def route_poisoned(index: torch.Tensor, weights: torch.Tensor, layout: Layout) -> Routing:
    """The routing in buffers that hold the largest integer wherever F0 wrote nothing."""
    torch.use_deterministic_algorithms(True, warn_only=True)  # fills `torch.empty`
    try:
        return route(index, weights, layout)
    finally:
        torch.use_deterministic_algorithms(False)


def check_routing(case: Case) -> dict[str, Any]:
    """Slots of 128-row tiles on 64-row segments, against the routing counted here."""
    *_, index, weights = draw(case, grad=False)
    layout = plan_layout(Shape(case.tokens, 64, 64, case.experts, case.top_k), 128, 64)
    routing = route_poisoned(index, weights, layout)
    slots = int(routing.tiles[6 * layout.tiles])
    table = routing.tiles[: 6 * layout.tiles].view(2, 3, layout.tiles)[:, :, :slots]
    covered: dict[int, list[int]] = {}
    doubles = 0
    for part in range(2):
        for e, row, end in table[part].T.tolist():
            if part and end == 0:
                continue
            doubles += part
            covered.setdefault(e, []).extend(range(row, min(row + 128, end)))
    flat = index.reshape(-1).tolist()
    rows = routing.slot_row[: layout.slots].tolist()
    placed = [i for i, e in enumerate(flat) if 0 <= e < case.experts]
    tokens_right = all(
        routing.row_token[rows[i]] == i // case.top_k
        and routing.row_weight[rows[i]] == weights.reshape(-1)[i].float()
        for i in placed
    )
    return {
        "tokens": bool(tokens_right),
        "lost": all(row == -1 for i, row in enumerate(rows) if i not in set(placed)),
        "stable": all(rows[i] < rows[j] for i in placed for j in placed if flat[i] < flat[j]),
        "covered": {e: sorted(r) for e, r in covered.items()}
        == {e: sorted(rows[i] for i in placed if flat[i] == e) for e in {flat[i] for i in placed}},
        "aligned": all(int(b) % 64 == 0 for b in routing.bounds[: case.experts]),
        "units": 2 * slots
        - sum((flat.count(e) + 63) // 64 for e in range(case.experts)),  # unused half slots
        "doubles": doubles,
        "bounded": slots <= layout.tiles and max(rows) < layout.rows,
        # F1 and F2 count from zero; F2 waits for no slot that no tile has.
        "counters": not routing.done[:slots].any()
        and bool((routing.done[slots:] > 2**20).all())
        and int(routing.tiles[6 * layout.tiles + 1]) == 0,
        "one_block": layout.slots <= ONE_BLOCK_SLOTS,
    }


def main() -> None:
    accept_new_numpy()
    print(
        json.dumps(
            {
                "kernels": {str(case): check_kernels(case) for case in CASES},
                "routing": {str(case): check_routing(case) for case in ROUTINGS},
            }
        )
    )


if __name__ == "__main__":
    main()
