"""Draws screenshots/*.svg from the running console on the demo's feed.

`python scripts/screenshots.py [FOLDER]`: the same bytes in every run, so that a test can compare.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

import anyio
import msgspec

os.environ.update({"TEXTUAL_ANIMATIONS": "none", "TZ": "UTC", "COLORTERM": "truecolor"})
os.environ.pop("NO_COLOR", None)
time.tzset()

from watchgate.core.clock import Instant  # noqa: E402 - textual reads its variables on import
from watchgate.core.records import Record  # noqa: E402
from watchgate.core.views import GateView  # noqa: E402
from watchgate.demo.play import START_WALL_US, Decide, play  # noqa: E402
from watchgate.link.client import Fields  # noqa: E402
from watchgate.link.lines import Answer  # noqa: E402
from watchgate.link.protocol import Push, Result, Snapshot, Verb  # noqa: E402
from watchgate.ui.app import WatchgateApp  # noqa: E402
from watchgate.ui.options import FoundAgent, Options  # noqa: E402

HERE = Path(__file__).parent.parent / "screenshots"
HOME = "/home/dev"
AGENTS = (FoundAgent("claude", "2.1.4"), FoundAgent("codex", "0.58.0"))
FONTS = "'Fira Code', 'DejaVu Sans Mono', Menlo, Consolas, monospace"


class Shot(msgspec.Struct, frozen=True, kw_only=True):
    """One picture: the second of the demo, what the operator had decided, the size, the keys."""

    name: str
    at_s: float
    decide: Decide = {}
    size: tuple[int, int] = (120, 40)
    theme: str = "dark"
    press: tuple[str, ...] = ()


ANSWERS: Decide = {"toolu_demo_12": (5.0, "deny"), "toolu_demo_20": (9.0, "deny")}
SHOTS = (
    Shot(name="monitor", at_s=44),
    Shot(name="monitor-light", at_s=44, theme="light"),
    Shot(name="monitor-80x24", at_s=44, size=(80, 24)),
    Shot(name="nothing-pending", at_s=70, decide=ANSWERS),
    Shot(name="request", at_s=44, press=("v",)),
    Shot(name="traces", at_s=44, press=("3", "g", *("j",) * 9, "enter")),
    Shot(name="help", at_s=44, press=("question_mark",)),
    Shot(name="first-run", at_s=-2, size=(80, 24)),
)


class Standing:
    """A clock that stands where a picture is taken; keys are pressed a second apart."""

    def __init__(self, at_s: float) -> None:
        self.at_s = at_s

    def now(self) -> Instant:
        """The moment of the picture."""
        return Instant(START_WALL_US, 0.0).plus(self.at_s)

    def now_s(self) -> float:
        """The clock of the keys."""
        return self.at_s


class Played:
    """A core that has written these records and says nothing more."""

    def __init__(self, records: Sequence[Record], now_us: int) -> None:
        self._pushes = [Push(record=record) for record in records]
        self._now_us = now_us
        self.taken = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Played]:
        """The only connection there is."""
        yield self

    async def attach(self) -> Snapshot:
        """Nothing yet: all of it comes as records."""
        return Snapshot(seq=0, core="demo", now=self._now_us, gate=GateView())

    async def batch(self) -> list[Push]:
        """All records at once, and then silence."""
        if self.taken or not self._pushes:
            self.taken = True
            await anyio.sleep_forever()
        self.taken = True
        return self._pushes

    async def call(self, verb: Verb, **fields: Unpack[Fields]) -> Answer:
        """Whatever is asked is done, and said back."""
        return Result(id=0, ok={"verb": verb, **fields})


async def draw(shot: Shot) -> str:
    """The picture as SVG."""
    clock = Standing(shot.at_s)
    source = Played(play(shot.at_s, shot.decide), clock.now().wall_us)
    options = Options(agents=AGENTS, home=HOME, theme=shot.theme, demo=False)
    app = WatchgateApp(source, clock, options, clock.now_s)
    async with app.run_test(size=shot.size) as pilot:
        while not source.taken:
            await pilot.pause(0.01)
        for key in ("", *shot.press):
            if key:
                clock.at_s += 0.3
                await pilot.press(key)
            for _ in range(3):
                app.tick()
                await pilot.pause(0.05)
        return for_documents(app.export_screenshot(title="watchgate"))


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
    """Draw every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for shot in SHOTS:
        (folder / f"{shot.name}.svg").write_text(asyncio.run(draw(shot)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
