"""docs/floor-plan.svg: the rooms of core, service and ui on their floors, from the import graph.

A room stands one floor above the highest room that it imports, and a line leads to each room that
it imports and that no other of its rooms imports already. Lines pass between the rooms of a floor.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from html import escape

from scripts.house_figures import FLOORED, ROOT, Graph, House

PICTURE = ROOT / "docs" / "floor-plan.svg"
BOX_HEIGHT, FLOOR_HEIGHT, GAP, MARGIN = 38, 78, 18, 24
CHARACTER_WIDTH = 7.4
Place = tuple[float, float]
STYLE = """\
  text { font: 13px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #1f2430; }
  .title { font-weight: bold; font-size: 15px; }
  .count { font-size: 10px; fill: #6b7280; }
  rect.room { fill: #eef4ff; stroke: #5b7fbf; rx: 5; }
  rect.house { fill: #fbfcfe; stroke: #cfd6e4; rx: 8; }
  path { stroke: #93a7ca; stroke-width: 1.2; fill: none; }
"""


def rooms_of(house: House, package: str) -> Graph:
    """The rooms of a package, each with the rooms of the same package that it imports."""
    rooms: Graph = {
        name: set()
        for module in house.paths
        if (name := house.room(module)).startswith(f"watchgate.{package}.")
    }
    for here, there in house.arrows():
        if here in rooms and there in rooms:
            rooms[here].add(there)
    return rooms


def floors_of(rooms: Graph) -> list[list[str]]:
    """The rooms of each floor, from the ground; the graph has no circles."""
    heights: dict[str, int] = {}

    def height(room: str) -> int:
        if room not in heights:
            heights[room] = 1 + max(map(height, rooms[room]), default=-1)
        return heights[room]

    floors = defaultdict(list)
    for room in sorted(rooms):
        floors[height(room)].append(room)
    return [floors[at] for at in range(len(floors))]


def direct(rooms: Graph) -> Iterable[tuple[str, str]]:
    """The imports between rooms that no chain of other imports implies."""
    for room, targets in rooms.items():
        for target in sorted(targets):
            if not any(target in rooms[other] for other in targets - {target}):
                yield room, target


def plan(house: House) -> str:
    """The picture: the packages beside one another, the ground at the bottom."""
    counts = Counter(house.room(module) for module in house.paths)
    plans = [(package, rooms_of(house, package)) for package in FLOORED]
    stories = max(len(floors_of(rooms)) for _, rooms in plans)
    height = stories * FLOOR_HEIGHT + 3 * MARGIN
    parts: list[str] = []
    left = float(MARGIN)
    for package, rooms in plans:
        floors = floors_of(rooms)
        widths = {room: _width(room, counts[room]) for room in rooms}
        width = max(sum(widths[room] + GAP for room in floor) for floor in floors) + GAP
        places: dict[str, Place] = {}
        boxes = []
        gaps: list[list[float]] = []
        for at, floor in enumerate(floors):
            x = left + (width - sum(widths[room] + GAP for room in floor) + GAP) / 2
            y = height - MARGIN - (at + 1) * FLOOR_HEIGHT + GAP
            gaps.append([x - GAP / 2])
            for room in floor:
                places[room] = (x + widths[room] / 2, y)
                boxes.append(_box(x, y, widths[room], room, counts[room]))
                x += widths[room] + GAP
                gaps[-1].append(x - GAP / 2)
        top = height - MARGIN - len(floors) * FLOOR_HEIGHT - MARGIN
        parts.append(
            f'<rect class="house" x="{left:g}" y="{top:g}" width="{width:g}" '
            f'height="{height - MARGIN - top + GAP / 2:g}"/>'
            f'<text class="title" x="{left + GAP:g}" y="{top + 20:g}">{package}/</text>'
        )
        heights = {room: at for at, floor in enumerate(floors) for room in floor}
        for here, there in direct(rooms):
            between = gaps[heights[there] + 1 : heights[here]]
            parts.append(_line(places[here], places[there], between))
        parts += boxes
        left += width + MARGIN
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left:g} {height:g}">\n'
        f"<style>\n{STYLE}</style>\n{body}\n</svg>\n"
    )


def _line(start: Place, end: Place, gaps: Sequence[Sequence[float]]) -> str:
    """Draws a line from below a room to above another one.

    `gaps` has, for each floor between them from the ground up, the places between its rooms.
    """
    x, y = start[0], start[1] + BOX_HEIGHT
    path = [f"M{x:g} {y:g}"]
    for passed, row in enumerate(reversed(gaps)):
        straight = x + (end[0] - x) / (len(gaps) - passed + 1)
        x = min(row, key=lambda gap: abs(gap - straight))
        y += FLOOR_HEIGHT - BOX_HEIGHT
        path.append(f"L{x:g} {y:g}V{y + BOX_HEIGHT:g}")
        y += BOX_HEIGHT
    return f'<path d="{"".join(path)}L{end[0]:g} {end[1]:g}"/>'


def _width(room: str, count: int) -> float:
    return max(len(_name(room)), len(_files(count)) * 0.8) * CHARACTER_WIDTH + 2 * GAP


def _box(x: float, y: float, width: float, room: str, count: int) -> str:
    middle, files = x + width / 2, _files(count)
    return (
        f'<rect class="room" x="{x:g}" y="{y:g}" width="{width:g}" height="{BOX_HEIGHT}"/>'
        f'<text x="{middle:g}" y="{y + 17:g}" text-anchor="middle">{escape(_name(room))}</text>'
        f'<text class="count" x="{middle:g}" y="{y + 31:g}" text-anchor="middle">{files}</text>'
    )


def _name(room: str) -> str:
    return room.rpartition(".")[2]


def _files(count: int) -> str:
    return f"{count} files" if count > 1 else "1 file"


def main() -> int:
    """Writes the picture; with `--check` it only returns 1 where it is out of date."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    picture = plan(House())
    if not args.check:
        PICTURE.write_text(picture, encoding="utf-8")
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture:
        print(f"{PICTURE.name} is out of date: run `make floor-plan`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
