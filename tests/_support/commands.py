"""The command `kameleon` in this process, as it would be called in a terminal."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from kameleon.cli import main


@dataclass
class Ended:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


def kameleon(*arguments: str, settings: Mapping[str, str] | None = None) -> Ended:
    """Run `kameleon` with these arguments, and with these variables in its environment."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.dict(os.environ, settings or {}),
        mock.patch.object(sys, "argv", ["kameleon", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            assert isinstance(end.code, int | None), end.code
            status = end.code or 0
    return Ended(status, out.getvalue(), err.getvalue())
