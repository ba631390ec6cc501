"""The four matrix kernels that a pass is made of; each architecture brings its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

    from .config import Launch
    from .routing import Routing


class Engine(Protocol):
    """Every method launches one kernel on the current stream and returns at once."""

    def up(
        self, x: torch.Tensor, w: torch.Tensor, r: Routing, h: torch.Tensor, act: torch.Tensor
    ) -> None:
        """F1: h [rows, 2I] and act [rows, I] from x [T, H], w [E, 2I, H]; no h if it is empty."""

    def gemm(
        self, a: torch.Tensor, w: torch.Tensor, r: Routing, y: torch.Tensor, trans: bool
    ) -> None:
        """F2 with w [E, N, K] (trans), B2 with w [E, K, N]: y [rows, N] from a [rows, K]."""

    def down_grad(
        self, dy: torch.Tensor, w: torch.Tensor, r: Routing, h: torch.Tensor, dh: torch.Tensor
    ) -> torch.Tensor:
        """B1: dh [rows, 2I]; returns fp32 [n, rows], whose sum over n is the router gradient."""

    def grad_weight(
        self, a: torch.Tensor, b: torch.Tensor, r: Routing, out: torch.Tensor, gather_a: bool
    ) -> None:
        """B4 (a [T, M] gathered) and B5 (b [T, N] gathered): out [E, M, N]."""


def make_engine(launch: Launch) -> Engine:
    """The kernels of a configuration; Gluon is imported only where it runs."""
    if launch.hopper:
        from .hopper.launch import HopperEngine

        return HopperEngine()
    from .portable.launch import PortableEngine

    return PortableEngine(launch.portable)
