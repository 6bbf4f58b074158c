"""The configuration file: read, checked, and each value with its origin."""

from __future__ import annotations

from typing import Any

from watchgate.core.config.config import Config, ConfigError, effective, load, origins
from watchgate.link.paths import Paths
from watchgate.service.system import safe_files
from watchgate.service.system.runtime_dir import check_config


def read_config(paths: Paths) -> Config:
    """Returns the configuration, or the defaults without a file; raises `ConfigError`."""
    text = _text(paths)
    return Config() if text is None else load(text, str(paths.config))


def values_with_origin(paths: Paths, config: Config) -> list[tuple[str, Any, str]]:
    """Returns every key with its value and the value's origin."""
    text = _text(paths)
    return effective(config, origins(text, str(paths.config)) if text is not None else {})


def _text(paths: Paths) -> str | None:
    try:
        if not paths.config.exists():
            return None
        check_config(paths.config)
        return safe_files.read_regular_file(paths.config).decode()
    except UnicodeDecodeError as fault:
        raise ConfigError(f"{paths.config}: not valid TOML: it is no UTF-8 ({fault})") from None
    except OSError as fault:
        raise ConfigError(f"{paths.config}: cannot be read: {fault.strerror}") from None
