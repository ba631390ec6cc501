"""The one exception of this package: inputs that the kernels cannot take."""


class MoeMlpError(ValueError):
    """Raised before anything is launched; `code` is stable, the text says what to change."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
