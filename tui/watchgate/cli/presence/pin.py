"""`pin`: choosing the PIN or key that unlocks a terminal, changing it, doing without one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from watchgate.cli.ask import ask, presence
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, say
from watchgate.cli.typed import needs_terminal, typed_secret
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
    """Add the command with its actions."""
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
    """Have the core take this PIN; raises `Stop` where it refuses."""
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
