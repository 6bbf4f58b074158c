from __future__ import annotations

import os
from pathlib import Path

import pytest

from watchgate.core.config.config import Config, ConfigError
from watchgate.link.paths import Paths, paths
from watchgate.service.system.config_file import read_config, values_with_origin
from watchgate.service.system.runtime_dir import RuntimeDirError


@pytest.fixture
def here() -> Paths:
    found = paths(os.environ)
    found.config.parent.mkdir(parents=True)
    return found


def test_without_a_file_the_defaults_are_in_force(here: Paths) -> None:
    assert read_config(here) == Config()
    rows = values_with_origin(here, Config())
    assert ("profile", "guard", "default") in rows


def test_every_value_is_traced_to_its_line(here: Paths) -> None:
    here.config.write_text('# ours\nprofile = "strict"\n\n[approval]\ntimeout_s = 60\n')
    config = read_config(here)
    origin = {key: where for key, _, where in values_with_origin(here, config)}
    assert config.profile == "strict"
    assert origin["profile"] == f"{here.config}:2"
    assert origin["approval.timeout_s"] == f"{here.config}:5"
    assert origin["approval.margin_s"] == "default"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"profile = [", b'profile = "lax"\n'])
def test_a_bad_file_is_an_error_that_names_it(here: Paths, content: bytes) -> None:
    here.config.write_bytes(content)
    with pytest.raises(ConfigError, match=str(here.config)):
        read_config(here)


def test_a_folder_in_its_place_is_an_error_that_names_it(here: Paths) -> None:
    here.config.mkdir()
    with pytest.raises(ConfigError, match=str(here.config)):
        read_config(here)


def test_a_file_that_others_can_write_is_refused_unread(here: Paths) -> None:
    here.config.write_text("profile = [")
    here.config.chmod(0o666)
    with pytest.raises(RuntimeDirError, match="chmod go-w"):
        read_config(here)


def test_a_dangling_link_is_no_file(here: Paths, tmp_path: Path) -> None:
    here.config.symlink_to(tmp_path / "nowhere")
    assert read_config(here) == Config()
