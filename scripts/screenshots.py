"""Draws screenshots/*.svg from the running console on the demo's feed.

`python -m scripts.screenshots [FOLDER]`: the same bytes in every run, so that a test can compare.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

os.environ.update({"TEXTUAL_ANIMATIONS": "none", "TZ": "UTC", "COLORTERM": "truecolor"})
os.environ.pop("NO_COLOR", None)
time.tzset()

from textual.pilot import Pilot  # noqa: E402 - textual reads its variables on import

from scripts import lookback_picture  # noqa: E402
from scripts.played import Played  # noqa: E402
from watchgate.core.base.clock import Instant  # noqa: E402
from watchgate.demo.demo_play import START_WALL_US, Decide  # noqa: E402
from watchgate.ui.console.app import WatchgateApp  # noqa: E402
from watchgate.ui.console.popup_app import PopupApp  # noqa: E402
from watchgate.ui.view_model.console_options import Options  # noqa: E402

HERE = Path(__file__).parent.parent / "screenshots"
HOME = "/home/dev"
LOOK = "look"
"""Stands for pressing nothing."""

PATIENCE = 40
"""How often a picture is looked at for what it has to tell."""

FONTS = "'Fira Code', 'DejaVu Sans Mono', Menlo, Consolas, monospace"


class Shot(msgspec.Struct, frozen=True, kw_only=True):
    """One picture: the second of the demo, what the operator had decided, the size, the keys.

    `told` is a text that stands there once the answer to the keys has come.
    """

    name: str
    at_s: float
    decide: Decide = {}
    size: tuple[int, int] = (120, 40)
    theme: str = "dark"
    press: tuple[str, ...] = ()
    told: str = ""
    app: Callable[..., WatchgateApp] = WatchgateApp


FORCE_PUSH, PIPE_TO_SHELL, RELEASE, VOLUMES = (f"toolu_demo_{n}" for n in (12, 20, 26, 28))
ANSWERS: Decide = {FORCE_PUSH: (5.0, "deny"), PIPE_TO_SHELL: (9.0, "deny")}
HELD_BY = "net.run-download"
LATER: Decide = {
    FORCE_PUSH: (11.0, "handback"),
    PIPE_TO_SHELL: (9.0, "deny"),
    RELEASE: (6.0, "allow"),
    VOLUMES: (4.0, "allow"),
}
SHOTS = (
    Shot(name="monitor", at_s=44),
    Shot(name="monitor-light", at_s=44, theme="light"),
    Shot(name="monitor-80x24", at_s=44, size=(80, 24)),
    Shot(name="monitor-160x45", at_s=44, size=(160, 45)),
    Shot(name="nothing-pending", at_s=70, decide=ANSWERS),
    Shot(name="approvals", at_s=44, press=("2", "tab", LOOK, LOOK, "a", LOOK, "y", "e")),
    Shot(name="approvals-light", at_s=44, press=("2", "tab"), theme="light"),
    Shot(name="edit", at_s=80, decide=ANSWERS, press=("2",)),
    Shot(name="request", at_s=44, press=("v",)),
    Shot(name="traces", at_s=44, press=("3", "g", *("j",) * 9, "enter")),
    Shot(name="costs", at_s=118, decide=LATER, press=("4",)),
    Shot(name="history", at_s=118, decide=LATER, press=("5", *("j",) * 11), told=HELD_BY),
    Shot(name="popup", at_s=44, size=(90, 24), app=PopupApp),
    Shot(name="help", at_s=44, press=("question_mark",)),
    Shot(name="first-run", at_s=-2, size=(80, 24)),
)


class Standing:
    """A clock that stands where a picture is taken; keys are pressed one after another."""

    def __init__(self, at_s: float) -> None:
        self.at_s = at_s

    def now(self) -> Instant:
        """The moment of the picture."""
        return Instant(START_WALL_US, 0.0).plus(self.at_s)

    def now_s(self) -> float:
        """The clock of the keys."""
        return self.at_s


async def draw(shot: Shot, folder: Path) -> str:
    """The picture as SVG; `folder` is an empty one, for the journal."""
    clock = Standing(shot.at_s)
    source = Played(shot.at_s, shot.decide, folder / "journal.db")
    options = Options(home=HOME, theme=shot.theme, demo=False)
    app = shot.app(source, clock, options, clock.now_s)
    async with app.run_test(size=shot.size) as pilot:
        while not source.taken:
            await pilot.pause(0.01)
        await settle(app, pilot)
        for key in shot.press:
            clock.at_s += 0.3
            if key != LOOK:
                await pilot.press(key)
            await settle(app, pilot)
        for _ in range(PATIENCE):
            if shot.told in app.export_screenshot():
                break
            await settle(app, pilot)
        else:
            raise TimeoutError(f"{shot.name}: {shot.told!r} does not come")
        return for_documents(app.export_screenshot(title="watchgate"))


async def settle(app: WatchgateApp, pilot: Pilot[str]) -> None:
    """Lets what the keys and the records lead to come to the screen."""
    for _ in range(3):
        app.tick()
        await pilot.pause(0.05)


def for_documents(svg: str) -> str:
    """The picture without remote fonts and ligatures, its blanks kept, its ids always the same."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r"font-family: Fira Code, monospace;",
        f"font-family: {FONTS}; font-variant-ligatures: none; letter-spacing: -0.108px;",
        svg,
    )
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    svg = svg.replace("<text class=", '<text xml:space="preserve" class=')
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main(folder: Path) -> None:
    """Draws every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for shot in SHOTS:
        with tempfile.TemporaryDirectory() as journal:
            (folder / f"{shot.name}.svg").write_text(asyncio.run(draw(shot, Path(journal))))
    (folder / lookback_picture.NAME).write_text(lookback_picture.draw())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
