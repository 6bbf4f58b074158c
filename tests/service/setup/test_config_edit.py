from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.config.config import ConfigError
from watchgate.link.paths import Paths, paths
from watchgate.service.setup.config_edit import set_value
from watchgate.service.system.config_file import read_config


@pytest.fixture
def here() -> Paths:
    return paths(os.environ)


def test_a_file_that_is_missing_is_made_with_its_folder_for_the_user_alone(here: Paths) -> None:
    set_value(here.config, "profile", "watch")
    assert read_config(here).profile == "watch"
    assert stat.S_IMODE(here.config.stat().st_mode) == 0o600
    assert stat.S_IMODE(here.config.parent.stat().st_mode) == 0o700


def test_comments_order_mode_and_a_link_stay(here: Paths, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("# Mine.\n[ui]\nbell = false # quiet\n")
    real.chmod(0o640)
    here.config.parent.mkdir(parents=True)
    here.config.symlink_to(real)
    set_value(here.config, "ui.theme", "mono")
    assert real.read_text() == '# Mine.\n[ui]\nbell = false # quiet\ntheme = "mono"\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert here.config.is_symlink()


@pytest.mark.parametrize(
    ("text", "key", "value", "why"),
    [
        ("# a\n", "profile", "gard", r"config.toml:1: .*did you mean guard\?.*nothing was changed"),
        ("# a\n\nprofile = 'guard'\n", "profile", 3, "config.toml:3: .*nothing was changed"),
        ("", "profil", "guard", "unknown key profil.*did you mean profile"),
        ("[approval]\n", "approval.timeout_s", 0, "config.toml:2: approval.timeout_s"),
        ("a = [\n", "profile", "watch", "config.toml:1: not valid TOML"),
        ("[[sink]]\ntype = 'stdout'\n", "sink.type", "jsonl", "sink is a list"),
    ],
)
def test_what_makes_no_good_configuration_is_refused_with_its_line(
    here: Paths, text: str, key: str, value: object, why: str
) -> None:
    here.config.parent.mkdir(parents=True)
    here.config.write_text(text)
    with pytest.raises(ConfigError, match=why):
        set_value(here.config, key, value)
    assert here.config.read_text() == text


@pytest.mark.parametrize(
    "key",
    [
        *("", ".", "ui.", ".ui", "ui..bell", "ui.keys.'a.b'", 'ui."bell"', "ui.a b", "bell = 1 #"),
        *("[ui]\nbell", "ui.bell\n", "ui.b\xe9ll", "ui.\udcff", "ui.\x7f"),
    ],
)
def test_a_key_is_words_with_dots_between(here: Paths, key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        set_value(here.config, key, True)
    assert str(refused.value) == (
        f"{key!r} is no key: it has words with dots between, such as approval.timeout_s; "
        "nothing was changed"
    )
    assert not here.config.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e300, -1])
def test_a_budget_is_a_number_to_count_up_to(here: Paths, value: float) -> None:
    with pytest.raises(
        ConfigError, match=r"costs\.budget_day_usd: expected .*nothing was changed$"
    ):
        set_value(here.config, "costs.budget_day_usd", value)
    assert not here.config.exists()


MINE = "# Mine.\nprofile = 'watch' # for now\n[ui]\nbell = false\n[[sink]]\ntype = 'stdout'\n"
KEYS = st.sampled_from(["profile", "ui", "ui.bell", "ui.keys", "ui.keys.deny", "sink", "sink.id"])
VALUES = st.recursive(
    st.text() | st.booleans() | st.integers() | st.floats() | st.dates() | st.none(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=6,
)


@given(KEYS | st.text(), VALUES)
def test_no_value_leaves_a_file_that_no_core_would_take(key: str, value: object) -> None:
    here = paths(os.environ)
    here.config.parent.mkdir(parents=True, exist_ok=True)
    here.config.write_text(MINE)
    try:
        set_value(here.config, key, value)
    except ConfigError:
        assert here.config.read_text() == MINE
    else:
        assert read_config(here).sink, "what is beside it stays"


def test_a_bad_value_makes_no_file(here: Paths) -> None:
    with pytest.raises(ConfigError):
        set_value(here.config, "profile", "gard")
    assert not here.config.parent.exists()


def test_a_wrong_value_is_mended(here: Paths) -> None:
    here.config.parent.mkdir(parents=True)
    here.config.write_text('profile = "gard" # mine\n')
    set_value(here.config, "profile", "guard")
    assert here.config.read_text() == 'profile = "guard" # mine\n'


@pytest.mark.parametrize("mode", [0o666, 0o400])
def test_a_file_that_others_write_or_nobody_does_is_left_alone(here: Paths, mode: int) -> None:
    here.config.parent.mkdir(parents=True)
    here.config.write_text("")
    here.config.chmod(mode)
    with pytest.raises(ConfigError, match="chmod"):
        set_value(here.config, "profile", "watch")
    assert here.config.read_text() == ""
