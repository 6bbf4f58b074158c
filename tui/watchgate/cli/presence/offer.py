"""The PIN that `install` offers to choose, so that there is one before an agent could choose it."""

from __future__ import annotations

from watchgate.cli.ask import Unreached, presence
from watchgate.cli.exits import Stop
from watchgate.cli.output import complain, prose, say
from watchgate.cli.place import here
from watchgate.cli.presence.pin import set_pin, typed_twice
from watchgate.cli.typed import at_terminal

OFFER = (
    "Choose a PIN now, so that it is you who allows: in tmux, an editor or a terminal that you "
    "open after an agent, nothing of high risk can be allowed without one. Enter skips it; then "
    "only terminals from before the agent may allow what is high (`watchgate pin set`, later)."
)
_LATER = "No PIN is set. Choose one in a terminal from before any agent: `watchgate pin set`"


def offer_pin() -> None:
    """Ask for a PIN once where a person is at a terminal and none is set; a script waits for none.

    A core is started for one that is chosen, as only a core keeps it.
    """
    if not at_terminal():
        return
    try:
        stands = presence()
        if stands.pin or stands.key:
            return
        if not stands.proven:
            say(_LATER)
            return
    except Unreached:
        if here().pin.exists():
            return
    except Stop:
        return
    print()
    prose(OFFER)
    try:
        if pin := typed_twice():
            _needs_core()
            set_pin(pin)
    except Stop as stop:
        complain(f"{stop}; the hooks are installed all the same")


def _needs_core() -> None:
    """Start a core where none runs."""
    from watchgate.service.cannot_serve import CannotServe
    from watchgate.service.detached import answers, start_core

    try:
        if not answers(here()):
            start_core(here())
            say("A core runs now; `watchgate` opens its console.")
    except CannotServe as fault:
        raise Stop(str(fault)) from None
