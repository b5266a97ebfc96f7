"""The source of a workload: which modules it is made of, and what of their text counts.

Modules are read, never imported: the one that has the workload's factory, and those of its own that it imports, however
indirectly. Its own are those of the suite, of its package, or beside its file; libraries of others are not. In the one
with the factory, what only the list `BENCHMARKS` needs does not count: what it declares is sealed by value.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from strobe.bench.user_file import is_file_name
from strobe.errors import Error

_DECLARED = "BENCHMARKS"
#: the suite itself has a hundred modules, which every one of its benchmarks asks for
_KNOWN = 1024
#: never one's own, whatever lies beside a file
_LIBRARIES = frozenset({*sys.stdlib_module_names, "strobe"})


@dataclass(frozen=True, slots=True)
class Module:
    """A module of a workload, under the name that a seal has for it."""

    name: str
    dotted: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where modules of one's own are: below a package, or with no package beside a file."""

    package: str
    directories: tuple[Path, ...]
    #: of the package itself
    file: Path | None = None
    has_inits: bool = True

    def find(self, dotted: str) -> Module | None:
        """Return a module by the name that it is imported by; None if it is none of these."""
        if self.package and dotted == self.package:
            return Module(dotted, dotted, self.file, _read(self.file)) if self.file else None
        head = f"{self.package}." if self.package else ""
        if not dotted.startswith(head):
            return None
        words = dotted.removeprefix(head).split(".")
        if not all(words) or (not self.package and words[0] in _LIBRARIES):
            return None
        for directory in self.directories:
            base = directory.joinpath(*words)
            for path in (base.with_name(f"{words[-1]}.py"), base / "__init__.py")[: 1 + self.has_inits]:
                if path.is_file():
                    name = dotted if self.package else path.relative_to(directory).as_posix()
                    return Module(name, dotted, path, _read(path))
        return None


#: finds a module of one's own by its dotted name
Find = Callable[[str], Module | None]


def finder(module: str, suite: Place) -> tuple[Module, Find]:
    """Return the module that a workload names, by its path or its name, and how modules of its own are found.

    Raises strobe.Error if it is not there.
    """
    if is_file_name(module):
        path = Path(module)
        own = Place("", (path.parent,))
        main: Module | None = Module(path.name, path.stem, path, _read(path))
    else:
        own = _place_of(module.partition(".")[0]) if suite.find(module) is None else suite
        main = own.find(module)
    if main is None:
        raise Error(f"no module {module!r} that could be sealed; is the package that offers it installed?")
    return main, lambda dotted: suite.find(dotted) or own.find(dotted)


def _place_of(package: str) -> Place:
    spec = find_spec(package)
    origin = Path(spec.origin) if spec is not None and spec.origin and is_file_name(spec.origin) else None
    directories = spec.submodule_search_locations if spec is not None else None
    return Place(package, tuple(Path(one) for one in directories or ()), origin)


def closure(roots: Iterable[Module], find: Find) -> list[Module]:
    """Return modules and all of their own that they need, however indirectly; the first of a name counts."""
    found: dict[str, Module] = {}
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module.dotted not in found:
            found[module.dotted] = module
            waiting += imports(module, find)
    return list(found.values())


def imports(module: Module, find: Find) -> Iterator[Module]:
    """Yield the modules of one's own that a module imports by name."""
    for node in _import_statements(module.text):
        if isinstance(node, ast.Import):
            yield from filter(None, (find(alias.name) for alias in node.names))
        else:
            base = _base(node, module)
            inner = [find(f"{base}.{alias.name}") for alias in node.names]
            yield from filter(None, inner)
            # What is no module is a value of the module, or of a package's __init__.
            if None in inner and (outer := find(base)) is not None:
                yield outer


def _base(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    words = module.dotted.split(".")
    # One dot is the package that a module is in; an __init__ is that package.
    words = words[: len(words) - node.level + (module.path.name == "__init__.py")]
    return ".".join([*words, *filter(None, [node.module])])


# -- text --------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    with tokenize.open(path) as stream:
        return stream.read()


@lru_cache(_KNOWN)
def _import_statements(text: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom))


@lru_cache(_KNOWN)
def names_in_strings(text: str) -> frozenset[str]:
    """Return the texts within a source that could be names of something."""
    texts = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return frozenset(one for one in texts if isinstance(one, str) and one.isidentifier())


@lru_cache(_KNOWN)
def essence(text: str) -> str:
    """Return a source without comments, docstrings and empty lines: the same on every version of Python."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                _blank(lines, first)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _blank(lines: list[str], node: ast.stmt) -> None:
    """Take a statement out of its lines, and nothing that stands beside it."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    # Python counts columns in bytes.
    before = lines[first].encode()[: node.col_offset].decode()
    behind = lines[last].encode()[node.end_col_offset :].decode()
    lines[first : last + 1] = ["", *[""] * (last - first)]
    lines[first] = before + behind


@dataclass(frozen=True, slots=True)
class _Statement:
    rows: range
    defines: frozenset[str]
    uses: frozenset[str]


def without_declarations(module: Module, factory: str) -> Module:
    """Return the module without `BENCHMARKS` and what nothing else needs than that; the factory always counts."""
    if _DECLARED not in module.text:
        return module
    kept = [_statement(node) for node in ast.parse(module.text).body]
    free = [one for one in kept if _DECLARED in one.defines]
    while free:
        kept = [one for one in kept if one not in free]
        needed = {factory}.union(*(one.uses for one in kept))
        wanted = set[str]().union(*(one.uses for one in free))
        more = [one for one in kept if one.defines & wanted and not one.defines & needed]
        if not more:
            break
        free += more
    lines = module.text.split("\n")
    rows = {row for one in kept for row in one.rows}
    for one in free:
        for row in one.rows:
            if row not in rows:  # two statements may share one
                lines[row] = ""
    return replace(module, text="\n".join(lines))


def _statement(node: ast.stmt) -> _Statement:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    named = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    defines: set[str] = set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        defines = {node.name}
    elif isinstance(node, ast.Import | ast.ImportFrom):
        defines = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        defines = {one.id for one in named if isinstance(one.ctx, ast.Store)}
    elif isinstance(node, ast.Expr) and any(one.id == _DECLARED for one in named):
        defines = {_DECLARED}  # such as BENCHMARKS.append(…)
    uses = {one.id for one in named if isinstance(one.ctx, ast.Load)} - defines
    return _Statement(range(first - 1, node.end_lineno or node.lineno), frozenset(defines), frozenset(uses))
