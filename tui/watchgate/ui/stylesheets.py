"""Finds the stylesheets: inside the installed package, or beside the source root of a checkout."""

from __future__ import annotations

from pathlib import Path, PurePath

PACKAGE = Path(__file__).parent.parent
PLACES = (PACKAGE / "styles", PACKAGE.parent.parent / "styles")


def stylesheets(*names: str, places: tuple[Path, ...] = PLACES) -> list[str | PurePath]:
    """The absolute paths of the named stylesheets; raises `FileNotFoundError`."""
    for place in places:
        if place.is_dir():
            return [place / f"{name}.tcss" for name in names]
    looked = " and ".join(str(place) for place in places)
    raise FileNotFoundError(f"no stylesheets in {looked}: install watchgate again")
