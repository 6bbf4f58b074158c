"""`pin`: choosing the PIN or key that unlocks a terminal, changing it, doing without one.

- The PIN that `install` offers to choose, so that there is one before an agent could choose it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from watchgate.cli.base.ask import Unreached, ask, presence
from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain, prose, say
from watchgate.cli.base.typed_input import at_terminal, needs_terminal, typed_secret
from watchgate.link.protocol import Presence, Request

PIN_MEANS = """\
The PIN proves that it is you who allows. A terminal that an agent could have
opened (in tmux, an editor, over ssh from this machine, or after the agent was
started) is locked: it may deny, and lets nothing of high risk run until the PIN
was typed there once. It has 6 characters or more: digits, or a passphrase. The
core keeps only what checks it; a forgotten one is changed in a clear terminal."""
_ON_TERMINAL = "a PIN is typed at a terminal, never given as an argument or through a pipe"
_TRIES = 3
_KEY_BYTES = 4_096


def add_parser(commands: Any) -> None:
    """Adds the command with its actions."""
    pin = commands.add_parser(
        "pin",
        help="the PIN that unlocks a terminal for allowing",
        description=PIN_MEANS.replace("\n", " "),
        epilog="example: watchgate pin set",
    )
    actions = pin.add_subparsers(title="actions", metavar="ACTION", required=True)
    set_ = actions.add_parser(
        "set",
        help="choose or change it: it is asked for twice and not shown",
        epilog="example: watchgate pin set   (in a terminal from before any agent was started)",
    )
    set_.add_argument(
        "--key",
        metavar="FILE",
        help="a security key instead, or as well: its public key of OpenSSH (ed25519-sk, ecdsa-sk)",
    )
    set_.set_defaults(run=_set)
    remove = actions.add_parser(
        "remove",
        help="do without one: locked terminals then allow low and medium risk alone",
        epilog="example: watchgate pin remove",
    )
    remove.add_argument("--key", action="store_true", help="remove the security key, not the PIN")
    remove.set_defaults(run=_remove)


def _set(args: argparse.Namespace) -> int:
    needs_terminal(_ON_TERMINAL)
    stands = presence()
    if args.key is not None:
        return _set_key(Path(args.key).absolute(), stands)
    print(PIN_MEANS)
    current = None
    if stands.pin:
        say("A PIN is set already: this changes it.")
        current = _current(stands)
    pin = typed_twice()
    if not pin:
        raise Stop("no PIN was set: everything is as it was")
    set_pin(pin, current)
    return Exit.DONE


def _set_key(path: Path, stands: Presence) -> int:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            line = file.read(_KEY_BYTES).strip()
    except OSError as fault:
        raise Stop(f"{path}: no public key can be read: {fault.strerror}", Exit.USAGE) from None
    current = _current(stands) if stands.pin else None
    ask(Request(id=1, verb="pin", action="set", key=line, key_file=str(path), current=current))
    say("The security key is set: `watchgate unlock --key` in a locked terminal, or U in the")
    say("console, asks you to touch it. Touch it only when you asked for that yourself, and leave")
    say("the file where it is. ssh-agent has to know the key, or its handle to lie beside it.")
    return Exit.DONE


def typed_twice() -> str:
    """A new PIN that was typed the same twice; empty where none was."""
    for _ in range(_TRIES):
        pin = typed_secret("New PIN or passphrase (not shown): ")
        if not pin or pin == typed_secret("Once more: "):
            return pin
        complain("the two are not the same, nothing was set: type it twice again")
    return ""


def set_pin(pin: str, current: str | None = None) -> None:
    """Has the core take this PIN; raises `Stop` where it refuses."""
    ask(Request(id=1, verb="pin", action="set", pin=pin, current=current))
    say("The PIN is set. A locked terminal asks for it when you first allow something there, and")
    say("`watchgate unlock` or U in the console ask at any time.")


def _current(stands: Presence) -> str | None:
    """The PIN of now, where this terminal does not prove a person by itself."""
    return None if stands.proven else typed_secret("The PIN of now (not shown): ") or None


def _remove(args: argparse.Namespace) -> int:
    needs_terminal(_ON_TERMINAL)
    stands = presence()
    if args.key:
        return _remove_key(stands)
    if not stands.pin:
        say("No PIN is set.")
        return Exit.DONE
    ask(Request(id=1, verb="pin", action="remove", current=_current(stands)))
    say("The PIN is removed.")
    _tell_rest("your security key" if stands.key else "")
    return Exit.DONE


def _remove_key(stands: Presence) -> int:
    if not stands.key:
        say("No security key is set.")
        return Exit.DONE
    current = _current(stands) if stands.pin else None
    ask(Request(id=1, verb="pin", action="remove", key="", current=current))
    say("The security key is removed.")
    _tell_rest("your PIN" if stands.pin else "")
    return Exit.DONE


def _tell_rest(proof: str) -> None:
    if proof:
        say(f"A locked terminal is unlocked by {proof}.")
    else:
        say("A locked terminal now allows low and medium risk alone; what is high or critical is")
        say("allowed in a clear one, or after a code is confirmed there.")


OFFER = (
    "Choose a PIN now, so that it is you who allows: in tmux, an editor or a terminal that you "
    "open after an agent, nothing of high risk can be allowed without one. Enter skips it; then "
    "only terminals from before the agent may allow what is high (`watchgate pin set`, later)."
)
_LATER = "No PIN is set. Choose one in a terminal from before any agent: `watchgate pin set`"


def offer_pin() -> None:
    """Asks for a PIN once where a person is at a terminal and none is set; a script waits for none.

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
    """Starts a core where none runs."""
    from watchgate.service.system.detached_core import answers, start_core
    from watchgate.service.system.runtime_dir import CannotServe

    try:
        if not answers(here()):
            start_core(here())
            say("A core runs now; `watchgate` opens its console.")
    except CannotServe as fault:
        raise Stop(str(fault)) from None
