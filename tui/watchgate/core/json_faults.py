"""The errors that decoding JSON from outside may raise."""

from __future__ import annotations

from typing import Final

import msgspec

JSON_FAULTS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Of bytes: no JSON or another shape, no UTF-8 within a text, nested too deeply."""
