"""The state of reading a piece of Python: its names so far, and what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import Final, Protocol

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import (
    MAX_COMMANDS,
    Argv,
    Piece,
    UnknownWord,
    UnreadCode,
)
from watchgate.core.policy.code.python.dotted_names import (
    COMMON,
    REACHING,
    is_harmless,
    is_of_python,
)
from watchgate.core.policy.code.python.python_effects import EFFECTS, bound, command
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    Foreign,
    Local,
    Many,
    Obj,
    Ref,
    RestOfValues,
    Seq,
    Value,
    Values,
    items_of,
    leaves,
    merged,
    path_joined,
    pieces,
    widened,
)

# Names get all values that they have anywhere, so the code is gone through until none is new.
SETTLING_PASS: Final = 3
_MAX_VARIANTS: Final = 8
_ENVIRONMENT: Final = ("os.environ", "os.environb")


class PythonState:
    """The values of all names, and the commands that do what the code does.

    There is one space of names for all functions, and each name has all the values that it gets
    anywhere: that is more than can happen, never less.
    """

    def __init__(self) -> None:
        self.names: dict[str, Values] = {}
        self.returns: dict[int, Values] = {}
        self.locals: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef] = []
        self.numbers: dict[int, int] = {}
        self.commands: dict[Argv, None] = {}
        self.loads: dict[str, None] = {}
        self.folders: dict[Piece, None] = {"": None}
        self.functions: list[int] = []
        self.stars: list[str] = []
        self.unread = ""
        self.changed = False
        self.passes = 0

    def assign(self, name: str, values: Values) -> None:
        """Adds values to those that a name has."""
        check()
        before = self.names.get(name, ())
        after = merged((*before, *values))
        if before and after != before and self.passes >= SETTLING_PASS:
            after = widened(after)
        if after != before:
            self.names[name] = after
            self.changed = True

    def adds(self, owner: Value, values: Values) -> None:
        """Adds values to a collection, by whatever name it goes."""
        if isinstance(owner, Seq | Many):
            for site in owner.sites:
                self.assign(f"[{site}]", values)
            if not owner.sites:
                # All others of unknown origin may be the same, and hold one another.
                self.assign("[]", leaves(values))

    def added(self, owner: Value) -> Values:
        """Returns the values that may have been added to a collection since it was made."""
        if not isinstance(owner, Seq | Many):
            return ()
        return merged(v for s in owner.sites or ("",) for v in self.names.get(f"[{s}]", ()))

    def site(self, node: ast.AST) -> tuple[int]:
        """The number of a place in the code that makes collections."""
        return (self.numbers.setdefault(id(node), -len(self.numbers)),)

    def results_in(self, number: int, values: Values) -> None:
        """Adds values to those that a function of the code returns."""
        self.assign(f"({number})", values)

    def does(self, *argv: Piece) -> None:
        """Notes that the code does what this command does."""
        check()
        if isinstance(argv[0], UnknownWord):
            self.doubt("starts a program that is only known at run time")
            return
        if argv[0] == "python3" and len(argv) > 1 and isinstance(argv[1], UnknownWord):
            self.doubt("runs a file that is only known at run time")
            return
        if argv[:2] == ("sh", "-c") and any(isinstance(each, UnknownWord) for each in argv):
            self.doubt("gives a shell a text that is only known at run time")
            return
        if len(self.commands) <= MAX_COMMANDS:
            self.commands[argv] = None

    def doubt(self, why: str) -> None:
        """Says what is not understood."""
        self.unread = self.unread or why

    def forget(self, values: Iterable[Value]) -> None:
        """Lets values go where nobody follows them; what does something may not be among them."""
        for value in values:
            match value:
                case Seq(items=items):
                    for each in items:
                        self.forget(each)
                case Many(items=items) | RestOfValues(items=items):
                    self.forget(items)
                case Ref(name=name) if name in _ENVIRONMENT:
                    self.does("printenv")
                case Ref(name=name) if not is_harmless(name):
                    raise UnreadCode(f"hands on {_plain(name)}, which may then do anything")
                case Obj(kind="environ"):
                    self.does("printenv")
                case Local(number=number):
                    self.called_by_others(number)
                case _:
                    pass

    def shown(self, values: Iterable[Value]) -> None:
        """Lets something print or describe values, which does not call them."""
        self.forget(each for each in values if not isinstance(each, Ref) or is_environment(each))

    def described(self, values: Iterable[Value]) -> None:
        """Lets something ask values what they are, or compare them."""
        self.shown(each for each in values if not isinstance(each, Ref | Obj))

    def called_by_others(self, number: int) -> None:
        """Notes that a function of the code may be called with any data."""
        for name in parameters(self.locals[number]):
            self.assign(name, PLAIN)
        self.forget(v for v in self.names.get(f"({number})", ()) if not isinstance(v, Local))

    def performs(
        self,
        name: str,
        positional: Sequence[Values],
        named: dict[str, Values],
        itself: Values = (),
    ) -> None:
        """Notes the command of a function in the table of effects, for all its arguments may be."""
        effect = EFFECTS[name]
        choices = [*map(pieces, positional), *map(pieces, named.values()), *map(pieces, [itself])]
        wide = [each or (UnknownWord(),) for each in choices]
        for chosen in islice(product(*wide), _MAX_VARIANTS + 1):
            given = list(chosen)
            if len(self.commands) > MAX_COMMANDS:
                break
            mine = given.pop()
            values = dict(zip(named, given[len(positional) :], strict=True))
            arguments = bound(effect, given[: len(positional)], values)
            self.does(*command(effect, {**arguments, "self": mine}))

    def imports(self, name: str) -> None:
        """Notes that a module is loaded, which runs its code where it is one of the project's."""
        root = name.partition(".")[0]
        self.loads[f"{root}.py"] = None
        if is_of_python(name) or root in COMMON:
            return
        if root in REACHING:
            self.doubt(f"uses {root}, which reaches other programs or machines")
        for folder in self.folders:
            if folder == "":
                # To run the package itself would do more.
                self.does("python3", "-m", name if "." in name else f"{name}.__init__")
            else:
                self.does("python3", path_joined(folder, f"{root}.py"))


def module(name: str) -> Values:
    """A module, or what one has, by its dotted name."""
    return (Ref(name),) if is_of_python(name) else (foreign(name),)


def foreign(name: str) -> Foreign:
    """Something of a package that is no part of Python: the first and last part of its name."""
    root, _, rest = name.partition(".")
    last = rest.rpartition(".")[2]
    return Foreign(f"{root}.{last}" if last else root)


def parameters(node: ast.AST) -> list[str]:
    """The parameters of a function, of all kinds."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return []
    given = node.args
    parameters_ = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    parameters_ += [each for each in (given.vararg, given.kwarg) if each is not None]
    return [each.arg for each in parameters_]


def items(values: Values, state: PythonState) -> Values:
    """Returns the values that a loop yields; over the environment it counts as printing."""
    named = [each for each in values if isinstance(each, Ref | Local) or is_environment(each)]
    state.forget(named)
    others = items_of(tuple(each for each in values if each not in named))
    added = [value for each in values for value in state.added(each)]
    return merged((*others, *added, *(PLAIN if named or not others else ())))


def is_environment(value: Value) -> bool:
    """Tells whether a value is the environment, or a copy of it."""
    match value:
        case Ref(name=name):
            return name in _ENVIRONMENT
        case Obj(kind=kind):
            return kind == "environ"
        case _:
            return False


def _plain(name: str) -> str:
    return name.removeprefix("builtins.")


class ExpressionReader(Protocol):
    """The reader of expressions, as calls and assignments use it."""

    state: PythonState

    def of(self, node: ast.expr | None) -> Values:
        """Returns the values that an expression may have."""

    def attribute(self, owners: Values, name: str) -> Values:
        """Returns the values that an attribute of these owners may have."""

    def indices(self, index: ast.expr) -> Values:
        """Returns the values of a subscript's index, between the brackets."""
