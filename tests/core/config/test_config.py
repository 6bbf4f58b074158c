"""The configuration: every key is acted on or refused, and an error says how to mend it."""

from __future__ import annotations

import pytest

from watchgate.core.config.config import THEMES, Config, ConfigError, effective, load, origins

FILE = "config.toml"


def fault(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text, FILE)
    return str(caught.value)


def test_without_any_key_the_defaults_hold() -> None:
    config = load("", FILE)
    assert config == Config()
    assert config.profile == "guard"
    assert (config.approval.timeout_s, config.approval.unattended_timeout_s) == (300, 3600)
    assert (config.approval.client_deadline_s, config.approval.margin_s) == (3660, 5)
    assert (config.approval.relay_timeout_s.racing, config.approval.relay_timeout_s.serial) == (
        0,
        20,
    )
    assert (config.approval.unattended, config.approval.on_timeout) == ("hold", "deny")
    assert config.journal.content == "commands"
    assert config.ui.theme in THEMES


def test_every_key_is_read() -> None:
    config = load(
        """
        profile = "strict"
        [approval]
        timeout_s = 60
        unattended_timeout_s = 120
        unattended = "deny"
        client_deadline_s = 600
        margin_s = 2
        relay_timeout_s = { racing = 30, serial = 10 }
        on_timeout = "deny_and_stop"
        [journal]
        content = "none"
        [ui]
        theme = "mono"
        [ui.keys]
        allow_once = "y"
        """,
        FILE,
    )
    assert config.profile == "strict"
    assert config.approval.relay_timeout_s.racing == 30
    assert config.approval.on_timeout == "deny_and_stop"
    assert config.journal.content == "none"
    assert config.ui.keys == {"allow_once": "y"}


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ('profil = "guard"', "config.toml:1:", ["unknown key profil", "did you mean profile?"]),
        (
            "[approval]\n\ntimout_s = 5",
            "config.toml:3:",
            ["unknown key approval.timout_s", "did you mean timeout_s?", "allowed in"],
        ),
        (
            "[approval]\nrelay_timeout_s = { racin = 1 }",
            "config.toml:2:",
            ["unknown key approval.relay_timeout_s.racin", "did you mean racing?"],
        ),
        ("[aproval]\ntimeout_s = 5", "config.toml:1:", ["unknown key aproval"]),
        ('profile = "gard"', "config.toml:1:", ["did you mean guard?", "watch, guard, strict"]),
        ("profile = 3", "config.toml:1:", ["expected a text", "watch, guard, strict"]),
        ('[approval]\ntimeout_s = "5m"', "config.toml:2:", ["a whole number", "got a text"]),
        ("[approval]\ntimeout_s = 1.5", "config.toml:2:", ["expected a whole number"]),
        ("[approval]\ntimeout_s = 0", "config.toml:2:", ["a whole number >= 1"]),
        ("[approval]\nmargin_s = 90000", "config.toml:2:", ["a whole number <= 86400"]),
        ('[approval]\non_timeout = "allow"', "config.toml:2:", ["deny, deny_and_stop"]),
        ('[approval]\nunattended = "allow"', "config.toml:2:", ["hold, deny"]),
        ('[journal]\ncontent = "all"', "config.toml:2:", ["commands, full, none"]),
        ('[ui]\ntheme = "mona"', "config.toml:2:", ["did you mean mono?", *THEMES]),
        ("[ui.keys]\nallow_once = 1", "config.toml:1:", ["ui.keys", "expected a text"]),
        ("approval = 3", "config.toml:1:", ["expected a table"]),
        ("x = ", "config.toml:1:", ["not valid TOML", "line 1, column 5"]),
        ("a = 1\na = 2\nb = 3", "config.toml:2:", ["not valid TOML", "line 2"]),
        ("a = 1\na = 2", "config.toml:2:", ["overwrite", "line 2, column 6"]),
        ("\n[approval", "config.toml:2:", ["Expected ']'", "line 2, column 10"]),
        ("[approval\n", "config.toml:1:", ["Expected ']'", "line 1, column 10"]),
        ('x = "abc', "config.toml:1:", ["Unterminated string", "line 1, column 9"]),
        ("x = {a = 1", "config.toml:1:", ["Unclosed inline table", "line 1, column 11"]),
        pytest.param(
            "y = 1\nx = " + "1" * 5_000 + "\nz = 2\n",
            "config.toml:2:",
            ["not valid TOML", "digits"],
            id="a number of 5,000 digits",
        ),
        pytest.param(
            "y = 1\nx = " + "[" * 20_000, "config.toml:2:", ["not valid TOML"], id="20,000 lists"
        ),
    ],
)
def test_a_fault_is_located_and_says_what_is_allowed(
    text: str, place: str, says: list[str]
) -> None:
    message = fault(text)
    assert message.startswith(place)
    for part in says:
        assert part in message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('a = 1\nx = """abc\n\nb = 2\n', "config.toml:2:"),
        ('x = """\ny = 3\n' * 3, "config.toml:5:"),
        ("[ui]\nx = [1,\n2,\n\n", "config.toml:2:"),
        pytest.param("x = [\n" + "1,\n" * 2_000, "config.toml:2002:", id="too far back"),
    ],
)
def test_what_is_never_closed_is_located_where_it_begins_or_else_where_the_file_ends(
    text: str, place: str
) -> None:
    assert fault(text).startswith(place)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("max_age_days = 0", "journal.max_age_days: expected a whole number >= 1"),
        ("max_age_days = 1.5", "journal.max_age_days: expected a whole number"),
        ("max_size_mb = 15", "journal.max_size_mb: expected a whole number >= 16"),
        ('max_size_mb = "2 GB"', "journal.max_size_mb: expected a whole number"),
    ],
)
def test_the_limits_of_the_journal_are_whole_numbers_that_leave_room(text: str, says: str) -> None:
    assert fault(f"[journal]\n{text}").startswith(f"config.toml:2: {says}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("timeout_s = 3655", "approval.timeout_s = 3655"),
        ("unattended_timeout_s = 4000", "approval.unattended_timeout_s = 4000"),
        ("client_deadline_s = 3605", "approval.unattended_timeout_s = 3600"),
        ("margin_s = 60", "approval.unattended_timeout_s = 3600"),
        ("relay_timeout_s = { serial = 3655 }", "approval.relay_timeout_s.serial = 3655"),
        ("client_deadline_s = 86395", "below the longest that agents wait, 86400"),
    ],
)
def test_ap_16_clocks_that_are_not_nested_are_refused(text: str, says: str) -> None:
    assert says in fault(f"[approval]\n{text}")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            "[approval]\n\nclient_deadline_s = 15",
            3,
            ["client_deadline_s = 15", "set client_deadline_s to 3606 or more"],
        ),
        (
            "[approval]\ntimeout_s = 10\nunattended_timeout_s = 10\nclient_deadline_s = 20",
            4,
            ["relay_timeout_s.serial = 20 (the default)", "below 15", "to 26 or more"],
        ),
        ("[approval]\nunattended = 'hold'\nmargin_s = 60", 3, ["margin_s = 60", "3661 or more"]),
        ("approval.client_deadline_s = 3605", 1, ["unattended_timeout_s = 3600 (the default)"]),
        ("profile = 'guard'\napproval = { client_deadline_s = 15 }", 2, ["3606 or more"]),
        (
            "[approval]\nclient_deadline_s = 3605\ntimeout_s = 3601",
            3,
            ["approval.timeout_s = 3601 must", "unattended_timeout_s = 3600 (the default)"],
        ),
        (
            "[approval]\nrelay_timeout_s = { racing = 9 }\nclient_deadline_s = 10",
            2,
            ["relay_timeout_s.racing = 9 must", "3606 or more"],
        ),
        ("[approval]\nclient_deadline_s = 4", 2, ["3606 or more"]),
        ("[approval]\nmargin_s = 82740", 2, ["lower margin_s"]),
        ("[approval]\nmargin_s = 9\nclient_deadline_s = 86395", 3, ["set it to 86390 or less"]),
    ],
)
def test_clocks_that_collide_with_a_default_point_at_the_line_that_was_written(
    text: str, line: int, says: list[str]
) -> None:
    message = fault(text)
    assert message.startswith(f"config.toml:{line}:")
    for part in says:
        assert part in message


def test_following_the_advice_mends_the_clocks() -> None:
    assert load("[approval]\nclient_deadline_s = 3606", FILE).approval.client_deadline_s == 3606
    mended = "timeout_s = 14\nunattended_timeout_s = 14\nrelay_timeout_s.serial = 14"
    assert load(f"[approval]\nclient_deadline_s = 20\n{mended}", FILE).approval.timeout_s == 14


def test_the_tightest_nesting_is_taken() -> None:
    assert load("[approval]\ntimeout_s = 3654", FILE).approval.timeout_s == 3654
    assert load("[approval]\nclient_deadline_s = 86394", FILE).approval.client_deadline_s == 86394


def test_the_effective_configuration_names_each_origin() -> None:
    text = (
        'profile = "watch"\n\n[approval]\nrelay_timeout_s = { serial = 9 }\n[ui.keys]\ndeny = "n"\n'
    )
    given = {**origins(text, FILE), "profile": "--profile"}
    rows = {key: (value, origin) for key, value, origin in effective(load(text, FILE), given)}
    assert rows["profile"] == ("watch", "--profile")
    assert rows["approval.relay_timeout_s.serial"] == (9, "config.toml:4")
    assert rows["approval.relay_timeout_s.racing"] == (0, "default")
    assert rows["ui.keys.deny"] == ("n", "config.toml:6")
    assert rows["journal.content"] == ("commands", "default")
