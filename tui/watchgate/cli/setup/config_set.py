"""`config init|set|get|reload`: a file to start with, one key of it, and having it in force."""

from __future__ import annotations

import argparse
import tomllib
from typing import TYPE_CHECKING, Any, Final

from watchgate.cli.base.ask import Unreached, ask, request_answer
from watchgate.cli.base.command_environment import PROFILES, configured, here
from watchgate.cli.base.console_keys import check_keys, with_default_keys
from watchgate.cli.base.printing import Exit, Stop, json_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths

STARTS_S: Final = 15.0
_LOOK_S: Final = 0.05
_IN_HOOKS: Final = ("approval.client_deadline_s", "approval.margin_s")
"""The keys that are written into the hooks of agents, too."""


def add_parsers(verbs: Any) -> None:
    """Adds the four commands."""
    init = verbs.add_parser(
        "init",
        help="write a config.toml with every key and its default in comments, where there is none",
        epilog="example: watchgate config init",
    )
    init.set_defaults(run=_init)
    one = verbs.add_parser(
        "set",
        help="set one key; comments stay, and what no core would take is not written",
        epilog="example: watchgate config set approval.timeout_s 120",
    )
    one.add_argument("key", metavar="KEY", help="with dots, such as approval.timeout_s")
    one.add_argument("value", metavar="VALUE", help="as in TOML; a text needs no quotes")
    one.set_defaults(run=_set)
    get = verbs.add_parser(
        "get",
        help="the value of one key, or of all below a table, as the file and the defaults say",
        epilog="example: watchgate config get approval",
    )
    get.add_argument("key", metavar="KEY", help="with dots, such as approval.timeout_s")
    get.add_argument("--json", action="store_true", help="JSON lines, with where each is from")
    get.set_defaults(run=_get)
    reload = verbs.add_parser(
        "reload",
        help="have the running core take the file in; whoever asks meanwhile waits",
        description="The core starts over with the file as it is now, unless a request waits. "
        "No call is denied for it: whoever connects to ask meanwhile waits for a moment, and a "
        "stream that stays open ends and connects anew. Grants that are not for always end, and "
        "unlocked terminals are locked again.",
        epilog="example: watchgate config reload",
    )
    reload.set_defaults(run=_reload)


def _init(_args: argparse.Namespace) -> int:
    from watchgate.cli.base.starting import start_with

    start_with("config.toml", here().config, "watchgate config set KEY VALUE changes one key")
    return Exit.DONE


def _set(args: argparse.Namespace) -> int:
    paths, key = here(), args.key
    config = configured(paths)
    # However it is written: a profile that holds less needs a person.
    profile: Any = next((each for each in _readings(args.value) if each in PROFILES), None)
    if key == "profile" and profile is not None:
        from watchgate.cli.setup.guard_command import change_profile

        return change_profile(profile, config)
    _write(paths, key, args.value)
    rows = {name: value for name, value, _ in _below(paths, key)}
    say(f"{key} is {_shown(rows.get(key, args.value))} in {paths.config}")
    say(_from_when(key))
    return Exit.DONE


def _write(paths: Paths, key: str, text: str) -> None:
    """Writes the value as TOML has it, else as the plain text; raises `Stop` where neither fits."""
    from watchgate.core.config.config import ConfigError
    from watchgate.service.setup.config_edit import set_value

    def check(config: Config) -> None:
        try:
            check_keys(paths, config)
        except Stop as fault:
            raise Stop(f"{fault}; nothing was changed") from None

    refused: ConfigError | None = None
    for value in _readings(text):
        try:
            set_value(paths.config, key, value, check)
        except ConfigError as fault:
            refused = refused or fault
        else:
            return
    raise Stop(str(refused))


def _readings(text: str) -> Iterator[object]:
    try:
        value = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        value = {}
    except (ValueError, RecursionError):
        raise Stop(
            "VALUE is nested too deeply, or a number with too many digits; nothing was changed"
        ) from None
    if len(value) == 1:
        yield value["value"]
    if value != {"value": text}:
        yield text


def _from_when(key: str) -> str:
    from watchgate.link.protocol import Request

    if key.partition(".")[0] == "ui":
        return "A console has it from its next start on."
    hooks = "; then run `watchgate install` again for the hooks" if _is_in_hooks(key) else ""
    try:
        ask(Request(id=1, verb="hello"))
    except Unreached:
        return f"No core runs: the next one has it{hooks}."
    return f"The running core has it after `watchgate config reload`, which denies no call{hooks}."


def _is_in_hooks(key: str) -> bool:
    return any(f"{each}.".startswith(f"{key}.") for each in _IN_HOOKS)


def core_lacks() -> list[str]:
    """The keys of which the running core has other values; none without a core that can tell."""
    from watchgate.link.protocol import Refusal, Request

    try:
        answer = request_answer(Request(id=1, verb="config"))
    except Unreached:
        return []
    return [] if isinstance(answer, Refusal) else list(answer.ok["changes"])


def _reload(_args: argparse.Namespace) -> int:
    from watchgate.cli.setup.guard_command import confirm_lower
    from watchgate.link.protocol import Request

    config = ask(Request(id=1, verb="config"))
    changes: list[str] = config["changes"]
    if not changes:
        say("The running core has all of it already.")
        return Exit.DONE
    before = ask(Request(id=1, verb="hello"))["hello"]
    confirm_lower(config["profile"], before["profile"])
    ask(Request(id=1, verb="config", action="reload"))
    if not _is_another(before["core"]):
        raise Stop("the core ended and no other began: look at `watchgate status`", Exit.NO_CORE)
    say(f"In force now: {', '.join(changes)}. No call was denied for it.")
    if any(key in _IN_HOOKS for key in changes):
        say("Run `watchgate install` again for the hooks.")
    return Exit.DONE


def _is_another(core: str) -> bool:
    """Tells whether another core than this one answers by now."""
    import time

    from watchgate.link.protocol import Request

    end_s = time.monotonic() + STARTS_S
    while time.monotonic() < end_s:
        try:
            if ask(Request(id=1, verb="hello"))["hello"]["core"] != core:
                return True
        except Stop:
            pass  # its last breath
        time.sleep(_LOOK_S)
    return False


def _get(args: argparse.Namespace) -> int:
    rows = list(_below(here(), args.key))
    for key, value, origin in rows:
        if args.json:
            json_line({"key": key, "value": value, "origin": origin})
        else:
            say(_shown(value) if key == args.key else f"{key} = {_shown(value)}")
    return Exit.DONE


def _below(paths: Paths, wanted: str) -> Iterator[tuple[str, Any, str]]:
    """The key, or every key of that table; raises `Stop` where there is neither."""
    import difflib

    from watchgate.service.system.config_file import values_with_origin

    rows = values_with_origin(paths, configured(paths))
    if f"{wanted}.".startswith("ui.keys."):
        rows = with_default_keys(rows)
    chosen = [row for row in rows if row[0] == wanted or row[0].startswith(f"{wanted}.")]
    if not chosen:
        keys = [key for key, _, _ in rows]
        close = difflib.get_close_matches(wanted, keys, n=1)
        hint = f" did you mean {close[0]}?" if close else ""
        raise Stop(f"there is no key {wanted!r};{hint} `watchgate config show` lists them")
    yield from chosen


def _shown(value: Any) -> str:
    import msgspec

    return value if value and isinstance(value, str) else msgspec.json.encode(value).decode()
