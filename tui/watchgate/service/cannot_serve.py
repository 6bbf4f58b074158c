"""That a core may not start: all that one who starts it elsewhere needs to know."""

from __future__ import annotations


class CannotServe(Exception):
    """The core refuses to start; the message names the fault and the mend."""


class AlreadyServed(CannotServe):
    """Another core has this place, or is about to."""
