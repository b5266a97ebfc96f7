"""Path and query parameters: text becomes a typed struct, and what is not understood is an error, never ignored."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from strobe.server.problem import Problem


class Parameters:
    """The fields of a struct as parameters. A field that is a list may be given many times, others once."""

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        self.struct = struct
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType)
        self.fields = info.fields
        self._names = [field.encode_name for field in info.fields]
        self._many = {field.encode_name for field in info.fields if _is_many(field.type)}

    def read(self, values: Mapping[str, Any]) -> Any:
        """Return the struct made of these texts."""
        return msgspec.convert(dict(values), self.struct, strict=False)

    def read_query(self, items: Iterable[tuple[str, str]]) -> Any:
        """Return the struct made of a query string's pairs."""
        found: dict[str, Any] = {}
        for name, text in items:
            if name in self._many:
                found.setdefault(name, []).append(text)
            elif name in found:
                raise Problem(422, detail=f"query parameter {name!r} is given twice; give it once")
            elif name not in self._names:
                raise Problem(422, detail=f"query parameter {name!r} is not known here; {self._hint(name)}")
            else:
                found[name] = text
        return self.read(found)

    def _hint(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._names, n=1)
        return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(self._names)}"


def _is_many(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(map(_is_many, kind.types))
    if isinstance(kind, inspect.Metadata):
        return _is_many(kind.type)
    return isinstance(kind, (inspect.ListType, inspect.SetType, inspect.FrozenSetType, inspect.VarTupleType))
