"""The configuration: `config.toml` becomes a `Config`, or an error that says how to mend it.

Every key here is acted on. A key of a later version and a misspelt one are refused alike, so that
nobody relies on a setting that does nothing.

- Clocks that must be nested: the broker's, then the hook client's, then the agent's own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec

from watchgate.core.base import config_text, decoding
from watchgate.core.base.config_text import ConfigError, ConfigSource, explain
from watchgate.core.config import configured_handlers
from watchgate.core.config.config_sections import CostsConfig, EscalationConfig, PriceConfig
from watchgate.core.dispatch.handler_config import (
    DispatchConfig,
    ExtensionConfig,
    HandlerConfig,
    SinkConfig,
)
from watchgate.core.dispatch.presets import preset_of
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.secrets.redact import Content

AGENT_MAX_S = 86_400


def check(times: Approval, source: ConfigSource, written: Collection[str]) -> None:
    """Raises `ConfigError` for clocks that are not nested.

    `written` are the dotted keys that the text sets: a fault of a default is one of those.
    """
    clocks = {
        "timeout_s": times.timeout_s,
        "unattended_timeout_s": times.unattended_timeout_s,
        "relay_timeout_s.racing": times.relay_timeout_s.racing,
        "relay_timeout_s.serial": times.relay_timeout_s.serial,
    }
    limit_s = times.client_deadline_s - times.margin_s
    late = {key: value for key, value in clocks.items() if value >= limit_s}
    if late:
        raise _late(late, times, source, written)
    if times.client_deadline_s + times.margin_s >= AGENT_MAX_S:
        raise _placed(
            ("client_deadline_s", "margin_s"),
            f"approval.client_deadline_s = {times.client_deadline_s} with margin_s ="
            f" {times.margin_s} must be below the longest that agents wait, {AGENT_MAX_S}:"
            f" set it to {AGENT_MAX_S - times.margin_s - 1} or less",
            source,
            written,
        )


def _late(
    late: dict[str, int], times: Approval, source: ConfigSource, written: Collection[str]
) -> ConfigError:
    def described(key: str, value: int) -> str:
        return f"{key} = {value}" + ("" if f"approval.{key}" in written else " (the default)")

    first = max(late, key=lambda key: (f"approval.{key}" in written, late[key]))
    others = [described(key, value) for key, value in late.items() if key != first]
    also = f", and so must {', '.join(others)}" if others else ""
    message = (
        f"approval.{described(first, late[first])} must end before the hook client gives up: with"
        f" {described('margin_s', times.margin_s)} it must be below"
        f" {described('client_deadline_s', times.client_deadline_s)}{also};"
        f" {', or '.join(_mends(late, times))}"
    )
    return _placed((first, "client_deadline_s", "margin_s"), message, source, written)


def _mends(late: dict[str, int], times: Approval) -> list[str]:
    """Returns values to write instead, each of which this configuration would take."""
    needed_s = max(late.values()) + times.margin_s + 1
    limit_s = times.client_deadline_s - times.margin_s
    mends = []
    if needed_s + times.margin_s < AGENT_MAX_S:
        mends.append(f"set client_deadline_s to {needed_s} or more and run watchgate install again")
    if limit_s > 1:
        mends.append(f"set {' and '.join(late)} below {limit_s}")
    return mends or ["lower margin_s"]


def _placed(
    keys: tuple[str, ...], message: str, source: ConfigSource, written: Collection[str]
) -> ConfigError:
    """The error at the first of these keys that the text sets."""
    full = [f"approval.{key}" for key in keys]
    return source.error(next((key for key in full if key in written), full[0]), message)


__all__ = ["AGENT_MAX_S", "THEMES", "Config", "ConfigError", "effective", "load", "origins"]

Seconds = Annotated[int, msgspec.Meta(ge=1, le=AGENT_MAX_S)]
SecondsOrNone = Annotated[int, msgspec.Meta(ge=0, le=AGENT_MAX_S)]
Theme = Literal["textual-dark", "textual-light", "mono"]
THEMES: tuple[str, ...] = get_args(Theme)


class Relay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The time that a relay request waits; 0 = as long as the agent waits.

    `racing` is for agents that show their own prompt meanwhile, `serial` for those that hide it.
    """

    racing: SecondsOrNone = 0
    serial: SecondsOrNone = 20


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The time that a held request waits, and the end that silence brings: always a denial."""

    timeout_s: Seconds = 300
    unattended_timeout_s: Seconds = 3600
    unattended: Literal["hold", "deny"] = "hold"
    client_deadline_s: Seconds = 3660
    margin_s: Seconds = 5
    relay_timeout_s: Relay = Relay()
    on_timeout: Literal["deny", "deny_and_stop"] = "deny"


class PolicyConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of the policy; its rules are in files of their own.

    With `auto_allow` an allow rule is told to the agent as an allow, so that it does not ask.
    """

    auto_allow: bool = False


class JournalSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content that the journal keeps, and for how long: the oldest records go first."""

    content: Content = "commands"
    max_age_days: Annotated[int, msgspec.Meta(ge=1, le=36_500)] = 90
    max_size_mb: Annotated[int, msgspec.Meta(ge=16, le=1_048_576)] = 2048


class Ui(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The look of the console, its notifications, and its keys: action id to key."""

    theme: Theme = "textual-dark"
    ascii: bool = False
    bell: bool = True
    title: bool = True
    notify: Literal["auto", "osc9", "osc777", "tmux", "off"] = "auto"
    notify_when: Literal["unfocused", "always"] = "unfocused"
    notify_text: Literal["short", "command"] = "short"
    keys: dict[str, str] = {}


class AgentsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Agents of other packages: the names of entry points in the group `watchgate.agents`."""

    python: tuple[str, ...] = ()


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be configured."""

    profile: Profile = "guard"
    approval: Approval = Approval()
    dispatch: DispatchConfig = DispatchConfig()
    handler: tuple[HandlerConfig, ...] = ()
    extension: tuple[ExtensionConfig, ...] = ()
    sink: tuple[SinkConfig, ...] = ()
    escalation: tuple[EscalationConfig, ...] = ()
    costs: CostsConfig = CostsConfig()
    price: tuple[PriceConfig, ...] = ()
    agents: AgentsSection = AgentsSection()
    policy: PolicyConfig = PolicyConfig()
    journal: JournalSection = JournalSection()
    ui: Ui = Ui()


def load(text: str, origin: str) -> Config:
    """The configuration that a TOML text asks for; `origin` names the file in errors.

    Raises `ConfigError`.
    """
    source = ConfigSource(text, origin)
    values = config_text.parse(source)
    configured_handlers.check_shapes(values, source)
    try:
        config = decoding.convert(values, Config)
    except msgspec.ValidationError as fault:
        raise explain(fault, Config, source) from None
    check(config.approval, source, dict(_flat(values)))
    preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
    configured_handlers.check_meaning(config.handler, config.extension, config.sink, preset, source)
    configured_handlers.check_escalations(config.escalation, source)
    return config


def origins(text: str, origin: str) -> dict[str, str]:
    """Returns the place where each key of a text is set, as `file:line`, for `effective`."""
    source = ConfigSource(text, origin)
    return {key: source.place(key) for key, _ in _flat(config_text.parse(source))}


def effective(config: Config, given: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """Every key with its value and its origin: where it was `given`, else `default`."""
    values = msgspec.to_builtins(config)
    return [(key, value, given.get(key, "default")) for key, value in _flat(values)]


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat += _flat(value, f"{prefix}{key}.")
        else:
            flat.append((prefix + key, value))
    return flat
