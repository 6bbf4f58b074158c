"""Setting one key of the configuration file; its comments and order stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from watchgate.core.base import config_text
from watchgate.core.base.config_text import ConfigError, ConfigSource
from watchgate.core.config.config import Config, load
from watchgate.service.setup import agent_files
from watchgate.service.setup.agent_files import InstallRefusal
from watchgate.service.setup.forms.form_editor import FormError
from watchgate.service.setup.forms.toml_edit import with_value
from watchgate.service.system.runtime_dir import RuntimeDirError, check_config

_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def set_value(
    path: Path,
    key: str,
    value: object,
    check: Callable[[Config], None] = lambda _config: None,
    *,
    only_try: bool = False,
) -> None:
    """Sets one dotted key and writes the file whole, with its folder where that is missing.

    The result has to be a good configuration, for `check` too, which may raise anything. Raises
    `ConfigError`, and leaves the file alone then; with `only_try` it does so in any case.

    Args:
        path: The configuration file.
        key: The key, with dots: `approval.timeout_s`.
        value: Any value that TOML can hold.
        check: Raises where the new configuration is not good enough.
        only_try: Write nothing.
    """
    if not _KEY.fullmatch(key):
        raise ConfigError(
            f"{key!r} is no key: it has words with dots between, such as approval.timeout_s; "
            "nothing was changed"
        )
    try:
        check_config(path)
        config_file = agent_files.read(path)
        agent_files.check_writable(config_file)
        text = config_file.text
        config_text.parse(ConfigSource(text, str(path)))
        edited = with_value(text, tuple(key.split(".")), value)
        check(load(edited, str(path)))
        if edited != text and not only_try:
            agent_files.write(config_file, config_file.encode(edited))
    except ConfigError as fault:
        raise ConfigError(f"{fault}; nothing was changed") from None
    except FormError as fault:
        raise ConfigError(f"{path}: {fault}; nothing was changed") from None
    except (RuntimeDirError, InstallRefusal) as fault:
        raise ConfigError(str(fault)) from None
