"""Count what makes the package easy or hard to walk through; prints one line for each figure.

Imports are read from the sources, those inside functions and for type checkers included.
"""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tui" / "watchgate"
FLOORED = ("core", "service", "ui")  # packages whose folders stand on floors
ROOMED = (*FLOORED, "cli")  # packages in which no file lies loose
FACES = {"watchgate.ui.console.app"}
QUESTIONS = ("what", "whether", "who", "whose", "how", "where", "why", "when", "which")

Graph = dict[str, set[str]]


class House:
    """The modules of the package, their trees, and who imports whom."""

    def __init__(self, package: Path = PACKAGE) -> None:
        self.paths = {_dotted(path, package): path for path in sorted(package.rglob("*.py"))}
        self.texts = {name: path.read_text() for name, path in self.paths.items()}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}
        self.imports: Graph = {name: set(self._imported(name)) for name in self.trees}

    def _imported(self, module: str) -> Iterator[str]:
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    target = submodule if submodule in self.paths else node.module
                    if target in self.paths and target != module:
                        yield target
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.paths)

    def is_package(self, module: str) -> bool:
        """Returns whether a module is the `__init__.py` of a folder."""
        return self.paths[module].name == "__init__.py"

    def room(self, module: str) -> str:
        """The first folder below a package that a module lies in: `watchgate.core.gate`."""
        folder = module if self.is_package(module) else module.rpartition(".")[0]
        return ".".join(folder.split(".")[:3])

    def loose(self) -> list[str]:
        """Modules that lie directly in a package whose files all belong into folders."""
        return [
            name
            for name in self.paths
            if name.count(".") == 2
            and name.split(".")[1] in ROOMED
            and not self.is_package(name)
            and name not in FACES
        ]

    def docstrings(self) -> Iterator[tuple[str, int, str]]:
        """Every docstring with its module and line, those of attributes and constants too."""
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        for module, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                    yield module, getattr(node, "lineno", 1), text
                if not isinstance(node, ast.Module | ast.ClassDef):
                    continue
                for pair in pairwise(node.body):
                    match pair:
                        case (
                            ast.Assign() | ast.AnnAssign(),
                            ast.Expr(value=ast.Constant(value=str(text))),
                        ):
                            yield module, pair[1].lineno, text

    def classes(self) -> dict[str, list[str]]:
        """The modules that define a class, by its name."""
        homes = defaultdict(list)
        for module, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(module)
        return homes

    def arrows(self) -> set[tuple[str, str]]:
        """Pairs of rooms of one package of which the first imports the second."""
        return {
            (here, there)
            for module, targets in self.imports.items()
            for target in targets
            if (here := self.room(module)) != (there := self.room(target))
            and here.split(".")[1:2] == there.split(".")[1:2]
            and here.split(".")[1] in FLOORED
        }


def begins_as_question(docstring: str) -> bool:
    """Returns whether a docstring begins with What, Whether, Who, ..."""
    first = re.search(r"\w+", docstring)
    return first is not None and first[0].lower() in QUESTIONS


def circles(graph: Graph) -> list[list[str]]:
    """Groups of modules that import one another (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return groups


def floors() -> dict[str, int]:
    """The floor of each room, counted from the ground, as pyproject.toml orders them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    heights = {}
    for contract in settings["contracts"]:
        for container in contract.get("containers", ()):
            if container.removeprefix("watchgate.") in FLOORED:
                for height, layer in enumerate(reversed(contract["layers"])):
                    for room in layer.split("|"):
                        heights[f"{container}.{room.strip(' ()')}"] = height
    return heights


def upward(house: House) -> list[tuple[str, str]]:
    """Imports from a room to one on the same floor or above."""
    heights = floors()
    return [
        (module, target)
        for module, targets in house.imports.items()
        for target in sorted(targets)
        if (here := house.room(module)) != (there := house.room(target))
        and here in heights
        and there in heights
        and here.rpartition(".")[0] == there.rpartition(".")[0]
        and heights[there] >= heights[here]
    ]


def figures(house: House) -> dict[str, int | float | str]:
    """Each figure by the words that it is printed with."""
    modules = [name for name in house.paths if not house.is_package(name)]
    importers = Counter(target for targets in house.imports.values() for target in targets)
    names = Counter(name.rpartition(".")[2] for name in modules)
    shared = [homes for homes in house.classes().values() if len(homes) > 1]
    docstrings = [text for _, _, text in house.docstrings()]
    questions = sum(map(begins_as_question, docstrings))
    lines = [len(text.splitlines()) for text in house.texts.values()]
    return {
        "loose files in core, service, ui and cli": len(house.loose()),
        "files in the package": len(house.paths),
        "modules with one importer": sum(importers[name] == 1 for name in modules),
        "classes that share a name": sum(map(len, shared)),
        "module names that occur more than once": sum(count > 1 for count in names.values()),
        "docstrings": len(docstrings),
        "of them begin with What, Whether, ...": f"{questions} ({questions / len(docstrings):.1%})",
        "imports against a folder's order": len(upward(house)),
        "circles of modules": len(circles(house.imports)),
        "arrows between folders of core, service and ui": len(house.arrows()),
        "lines": sum(lines),
        "longest file, lines": max(lines),
        "median file, lines": median(lines),
    }


def _dotted(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


if __name__ == "__main__":
    for words, figure in figures(House()).items():
        print(f"{words:<50}{figure:>12}")
