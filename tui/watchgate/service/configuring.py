"""Setting one key of the configuration file; its comments and order stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from watchgate.core import config_toml
from watchgate.core.config import Config, load
from watchgate.core.config_errors import ConfigError, Source
from watchgate.service.runtime_dir import RuntimeDirError, check_config
from watchgate.service.setup import files
from watchgate.service.setup.forms.editor import FormError
from watchgate.service.setup.forms.toml_value import with_value
from watchgate.service.setup.targets import Refusal

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
        config_file = files.read(path)
        files.check_writable(config_file)
        text = config_file.text
        config_toml.parse(Source(text, str(path)))
        edited = with_value(text, tuple(key.split(".")), value)
        check(load(edited, str(path)))
        if edited != text and not only_try:
            files.write(config_file, config_file.encode(edited))
    except ConfigError as fault:
        raise ConfigError(f"{fault}; nothing was changed") from None
    except FormError as fault:
        raise ConfigError(f"{path}: {fault}; nothing was changed") from None
    except (RuntimeDirError, Refusal) as fault:
        raise ConfigError(str(fault)) from None
