"""The errors of a core that may not start, for programs that start one elsewhere."""

from __future__ import annotations


class CannotServe(Exception):
    """The core refuses to start; the message names the fault and the mend."""


class AlreadyServed(CannotServe):
    """Another core has this place, or is about to."""
