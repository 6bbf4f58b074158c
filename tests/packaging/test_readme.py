"""What the README shows is what the program takes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from watchgate.core.config import Config, effective, load, origins

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_shows_every_key_with_its_default() -> None:
    text = README.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    shown = load(text, "config.toml")
    assert shown == msgspec.structs.replace(
        Config(), ui=msgspec.structs.replace(Config().ui, keys={"allow_once": "a"})
    )
    known = {key for key, value, _ in effective(shown, {}) if value or value == 0}
    assert known == set(origins(text, "config.toml"))
