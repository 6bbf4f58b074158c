"""Loading every reader of code ahead of the first call that needs one."""

from __future__ import annotations

from importlib import import_module

from watchgate.core.policy.code.code_reading import LANGUAGES
from watchgate.core.policy.code.sql import sql_tokens


def load_readers() -> None:
    """Load the readers of all languages, which takes longer than a call may; in any thread."""
    for module in dict.fromkeys(LANGUAGES.values()):
        import_module(module)
    sql_tokens.load()
