"""Hold the package to the rules of its house; exits with 1 and names each place that breaks one.

No class name occurs twice, no docstring begins as a question, no name says that a value was had
instead of what it is, and no file lies loose. `EXCEPTIONS` may have 20 entries, each with a reason.
"""

import ast
import re
import sys
from collections.abc import Iterator

from scripts.house_figures import ROOT, House, begins_as_question

WORDS = {
    "told", "seen", "kept", "said", "found", "heard", "beside", "most", "least", "how", "whose",
}  # fmt: skip
EXCEPTIONS = {
    "NotFound", "NOT_FOUND",  # the field's word for what is missing
    "seen_at", "not_kept", "reasoning_beside",  # words of snapshots, reports and manifests
}  # fmt: skip
EXCEPTIONS_MAX = 20


def class_names(house: House) -> Iterator[str]:
    """Class names that more than one module defines."""
    for name, modules in house.classes().items():
        if len(modules) > 1:
            yield f"class {name} is defined in {' and '.join(modules)}: name each by its subject"


def docstrings(house: House) -> Iterator[str]:
    """Docstrings that begin with What, Whether, Who, ..."""
    for module, line, text in house.docstrings():
        if begins_as_question(text):
            yield f"{module}:{line}: begin the docstring with a verb or a noun: {text[:50]!r}"


def names(house: House) -> Iterator[str]:
    """Definitions that are called by a word that says nothing of what the value is."""
    for module, tree in house.trees.items():
        if module.rpartition(".")[2] in WORDS:
            yield f"{module}: name the module by its subject"
        for node in ast.walk(tree):
            for name in _defined(node):
                if _words_of(name) & WORDS:
                    yield f"{module}:{getattr(node, 'lineno', 1)}: say what `{name}` is"


def loose_files(house: House) -> Iterator[str]:
    """Files that belong into a folder."""
    for module in house.loose():
        yield f"{module}: move it into the folder of its subject"


def _words_of(name: str) -> set[str]:
    for exception in EXCEPTIONS:
        name = name.replace(exception, "")
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return {word.lower().removeprefix("un") for word in words}


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.arg():
            yield node.arg
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def main() -> int:
    """Prints what breaks a rule, and returns the exit code."""
    house = House()
    faults = [
        fault for rule in (class_names, docstrings, names, loose_files) for fault in rule(house)
    ]
    if len(EXCEPTIONS) > EXCEPTIONS_MAX:
        faults.append(f"{ROOT.name}: at most {EXCEPTIONS_MAX} exceptions, not {len(EXCEPTIONS)}")
    print("\n".join(faults) or "the house is in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
