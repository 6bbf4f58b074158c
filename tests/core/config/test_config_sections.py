from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from watchgate.core.config.config import Config, ConfigError, load
from watchgate.core.config.config_sections import first_sink_fault, owns_stdout, sink_fault
from watchgate.core.dispatch.handler_config import Envelope, SinkConfig, SinkType

STDOUT = SinkConfig(type="stdout")
JSONL = SinkConfig(type="jsonl", path="/x/events.jsonl")
WEBHOOK = SinkConfig(type="webhook", url="https://example.org/in")
SOCKET = SinkConfig(type="unix-socket", path="/run/x.sock")
ALL = (STDOUT, JSONL, WEBHOOK, SOCKET)


def changed(sink: SinkConfig, **fields: Any) -> SinkConfig:
    return msgspec.structs.replace(sink, **fields)


@pytest.mark.parametrize("sink", ALL, ids=lambda sink: sink.type)
def test_a_sink_that_says_where_its_records_go_is_right(sink: SinkConfig) -> None:
    assert sink_fault(sink) is None


@pytest.mark.parametrize("path", [None, ""])
@pytest.mark.parametrize("sink", [JSONL, SOCKET], ids=lambda sink: sink.type)
def test_cw_13_without_a_path_there_is_no_sink_since_there_is_no_default(
    sink: SinkConfig, path: str | None
) -> None:
    assert sink_fault(changed(sink, path=path)) == (
        f'a {sink.type} sink needs path = "..."; there is no default'
    )


def test_cw_13_a_configuration_without_sinks_has_none() -> None:
    assert load("", "config.toml").sink == ()


def test_cw_b1_no_default_lies_in_a_directory_that_others_may_write_to() -> None:
    assert {sink.path for sink in (msgspec.convert({"type": t}, SinkConfig) for t in types())} == {
        None
    }


def test_cw_b7_every_key_of_a_sink_is_acted_on_or_refused() -> None:
    places = {"stdout": set(), "jsonl": {"path"}, "webhook": {"url"}, "unix-socket": {"path"}}
    values = {"path": "/x/y", "url": "http://example.org"}
    for sink in ALL:
        for key, value in values.items():
            found = sink_fault(changed(sink, **{key: value}))
            if key in places[sink.type]:
                assert found is None
            else:
                assert found == f"{key} does nothing in a {sink.type} sink; remove it"
    # The rest is acted on for every type, see the tests of service/sinks/sink_types.py.
    assert set(SinkConfig.__struct_fields__) == {*values, "type", "envelope", "kinds", "queue"}


@pytest.mark.parametrize(
    ("key", "wrong", "allowed"),
    [
        ("type", "jsonlines", get_args(SinkType)),
        ("envelope", "cloudevents", get_args(Envelope)),
    ],
)
def test_cw_b8_an_unknown_value_is_refused_and_the_allowed_ones_are_named(
    key: str, wrong: str, allowed: tuple[str, ...]
) -> None:
    values = {"type": "stdout", key: wrong}
    text = "[[sink]]\n" + "".join(f'{name} = "{value}"\n' for name, value in values.items())
    with pytest.raises(ConfigError, match=f"{wrong!r} is not allowed") as fault:
        load(text, "config.toml")
    assert f"config.toml:{text[: text.index(wrong)].count(chr(10)) + 1}: " in str(fault.value)
    assert ", ".join(allowed) in str(fault.value)


def test_cw_b8_a_sink_that_cannot_be_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"config.toml:2: .* needs path"):
        load('\n[[sink]]\ntype = "jsonl"\n', "config.toml")


def test_cw_b8_an_unknown_key_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown key sink\.unix_socket_path"):
        load('[[sink]]\ntype = "unix-socket"\nunix_socket_path = "/x"\n', "config.toml")


TABLES = """
[[handler]]
id = "no-force-push"
on = ["tool.pre"]
command = ["./guard.sh"]

[[sink]]
type = "jsonl"
path = "~/watchgate-events.jsonl"
kinds = ["tool.*"]

[[handler]]
id = "tell"
on = ["turn.end"]
role = "observer"
command = ["notify"]

[[sink]]
type = "unix-socket"
path = "/run/user/1000/board.sock"
envelope = "codewhale"
"""


def test_cw_14_handlers_and_sinks_of_one_file_are_both_there_also_after_a_rewrite() -> None:
    both = load(TABLES, "config.toml")
    assert [handler.id for handler in both.handler] == ["no-force-push", "tell"]
    assert [sink.type for sink in both.sink] == ["jsonl", "unix-socket"]
    assert msgspec.convert(msgspec.to_builtins(both), Config) == both


def test_cw_b9_what_a_file_says_in_one_table_never_ends_up_in_the_other() -> None:
    first = load(TABLES, "config.toml").sink[0]
    assert first == SinkConfig(type="jsonl", path="~/watchgate-events.jsonl", kinds=("tool.*",))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080", "https://example.org/a?token=b", "http://[::1]:9/x"]
)
def test_a_url_of_a_server_is_right(url: str) -> None:
    assert sink_fault(changed(WEBHOOK, url=url)) is None


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "example.org",
        "http://",
        "http://example.org:99999/",
        "http://example.org:0/",
        "http://exa mple.org/",
        "http://example.org/\r\nX: y",
        "http://[::1/",
        "https://bücher.example/",
    ],
)
def test_any_other_url_is_refused(url: str) -> None:
    assert "url must be http" in str(sink_fault(changed(WEBHOOK, url=url)))


def test_a_password_in_a_url_is_refused() -> None:
    found = sink_fault(changed(WEBHOOK, url="https://ann:secret@example.org/"))
    assert found == "url must hold no user or password: they would be shown and recorded"


@pytest.mark.parametrize("path", ["events.jsonl", "./events.jsonl", "~ann/events.jsonl"])
def test_a_path_that_depends_on_where_the_core_runs_is_refused(path: str) -> None:
    assert "must begin with / or ~/" in str(sink_fault(changed(JSONL, path=path)))


@pytest.mark.parametrize(
    "kind", ["*", "tool.*", "approval.*", "tool.pre", "notice", "hook.trace", "policy.stopped"]
)
def test_a_kind_or_a_family_of_kinds_is_right(kind: str) -> None:
    assert sink_fault(changed(JSONL, kinds=(kind,))) is None


@pytest.mark.parametrize(
    "kind", ["", "tool", "tool.", "to*", "tools.*", "tool.prex", "notice.*", "*.pre", "policy.*.*"]
)
def test_a_kind_that_no_record_has_is_refused_and_the_families_are_named(kind: str) -> None:
    found = str(sink_fault(changed(JSONL, kinds=("tool.pre", kind))))
    assert repr(kind) in found
    assert "approval" in found


def test_no_kinds_at_all_are_refused() -> None:
    assert "kinds is empty" in str(sink_fault(changed(JSONL, kinds=())))


def test_cw_15_a_sink_that_prints_is_refused_where_stdout_is_somebody_elses() -> None:
    found = first_sink_fault((JSONL, STDOUT), stdout_is_free=False)
    assert found is not None
    assert found[0] == 1
    assert "`watchgate serve` only" in found[1]
    assert first_sink_fault((JSONL, STDOUT), stdout_is_free=True) is None


def test_cw_b11_only_the_stdout_sink_says_that_it_owns_stdout_and_there_is_one_at_most() -> None:
    assert [owns_stdout(sink) for sink in ALL] == [True, False, False, False]
    assert first_sink_fault(ALL, stdout_is_free=True) is None
    twice = first_sink_fault((STDOUT, JSONL, STDOUT), stdout_is_free=True)
    assert twice is not None
    assert twice[0] == 2


def test_cw_b12_one_file_has_one_writer() -> None:
    twice = first_sink_fault((JSONL, changed(JSONL, kinds=("tool.*",))), stdout_is_free=True)
    assert twice is not None
    assert "remove one" in twice[1]


def test_the_first_fault_is_told_with_its_place() -> None:
    found = first_sink_fault((JSONL, changed(SOCKET, path=None), STDOUT), stdout_is_free=False)
    assert found == (1, 'a unix-socket sink needs path = "..."; there is no default')


def types() -> tuple[str, ...]:
    return get_args(SinkType)
