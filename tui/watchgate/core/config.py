"""The configuration: `config.toml` becomes a `Config`, or an error that says how to mend it.

Every key here is acted on. A key of a later version and a misspelt one are refused alike, so that
nobody relies on a setting that does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec

from watchgate.core import config_clocks, config_toml, configured, decoding
from watchgate.core.config_clocks import AGENT_MAX_S
from watchgate.core.config_costs import CostsConfig, PriceConfig
from watchgate.core.config_errors import ConfigError, Source, explain
from watchgate.core.config_escalation import EscalationConfig
from watchgate.core.config_handlers import (
    DispatchConfig,
    ExtensionConfig,
    HandlerConfig,
    SinkConfig,
)
from watchgate.core.policy.profiles import Profile
from watchgate.core.presets import preset_of
from watchgate.core.redact import Content

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


class Journal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


class Agents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    agents: Agents = Agents()
    policy: PolicyConfig = PolicyConfig()
    journal: Journal = Journal()
    ui: Ui = Ui()


def load(text: str, origin: str) -> Config:
    """The configuration that a TOML text asks for; `origin` names the file in errors.

    Raises `ConfigError`.
    """
    source = Source(text, origin)
    values = config_toml.parse(source)
    configured.check_shapes(values, source)
    try:
        config = decoding.convert(values, Config)
    except msgspec.ValidationError as fault:
        raise explain(fault, Config, source) from None
    config_clocks.check(config.approval, source, dict(_flat(values)))
    preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
    configured.check_meaning(config.handler, config.extension, config.sink, preset, source)
    configured.check_escalations(config.escalation, source)
    return config


def origins(text: str, origin: str) -> dict[str, str]:
    """Return the place where each key of a text is set, as `file:line`, for `effective`."""
    source = Source(text, origin)
    return {key: source.place(key) for key, _ in _flat(config_toml.parse(source))}


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
