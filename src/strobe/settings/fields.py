"""Objects that are a set of named values: namespaces, flags, dataclasses, models of the well-known libraries.

Everything goes by what an object offers, so that no library is imported to find out that it was not used. What the
values become is not decided here (plain.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


def fields_of(value: Any) -> Mapping[Any, Any] | None:
    """Return name → value of an object that holds named values, None if it is no such object."""
    if isinstance(value, Mapping) and not is_omegaconf(value):
        return value
    if isinstance(value, type):
        return None  # a class describes objects; it is none
    for look in _LOOKS:
        found = look(value)
        if found is not None:
            return found
    return None


def _omegaconf(value: Any) -> Mapping[Any, Any] | None:
    if not is_omegaconf(value):
        return None
    found = omegaconf_container(value)
    return found if isinstance(found, Mapping) else None


def omegaconf_container(value: Any) -> Any:
    """Return the plain containers behind an OmegaConf node; interpolations resolved where that is possible."""
    omegaconf = sys.modules["omegaconf"]
    try:
        return omegaconf.OmegaConf.to_container(value, resolve=True)
    except omegaconf.errors.OmegaConfBaseException:
        # An interpolation that leads nowhere (yet): its text is more than an error.
        return omegaconf.OmegaConf.to_container(value, resolve=False)


def is_omegaconf(value: Any) -> bool:
    """Return whether the value is a node of OmegaConf (a dict or a list)."""
    module = sys.modules.get("omegaconf")
    return module is not None and hasattr(module, "OmegaConf") and bool(module.OmegaConf.is_config(value))


def _absl_flags(value: Any) -> Mapping[Any, Any] | None:
    return _called(value, "flag_values_dict")


def _dataclass(value: Any) -> Mapping[Any, Any] | None:
    return _attributes(value, getattr(type(value), "__dataclass_fields__", None))


def _attrs(value: Any) -> Mapping[Any, Any] | None:
    declared = getattr(type(value), "__attrs_attrs__", None)
    return None if declared is None else _attributes(value, [attribute.name for attribute in declared])


def _struct(value: Any) -> Mapping[Any, Any] | None:
    return _attributes(value, getattr(type(value), "__struct_fields__", None))


def _named_tuple(value: Any) -> Mapping[Any, Any] | None:
    return _called(value, "_asdict") if isinstance(value, tuple) else None


def _pydantic(value: Any) -> Mapping[Any, Any] | None:
    if hasattr(type(value), "model_fields"):
        return _called(value, "model_dump")
    return _called(value, "dict") if hasattr(type(value), "__fields__") else None


def _namespace(value: Any) -> Mapping[Any, Any] | None:
    # argparse.Namespace and types.SimpleNamespace, subclasses too, without importing argparse.
    names = {kind.__name__ for kind in type(value).__mro__}
    return vars(value) if names & {"Namespace", "SimpleNamespace"} and hasattr(value, "__dict__") else None


def _to_dict(value: Any) -> Mapping[Any, Any] | None:
    """Objects that say so themselves: ml_collections, Hugging Face configurations. Not arrays and frames."""
    if hasattr(value, "shape"):
        return None
    return _called(value, "to_dict")


def _called(value: Any, method: str) -> Mapping[Any, Any] | None:
    bound = getattr(value, method, None)
    if not callable(bound):
        return None
    try:
        found = bound()
    except (TypeError, ValueError, AttributeError, RuntimeError):
        # A method of that name which wants arguments, or cannot answer now, is not the one that is meant.
        return None
    return found if isinstance(found, Mapping) else None


def _attributes(value: Any, names: Any) -> Mapping[Any, Any] | None:
    return None if names is None else {name: getattr(value, name) for name in names if hasattr(value, name)}


#: most specific first
_LOOKS: tuple[Callable[[Any], Mapping[Any, Any] | None], ...] = (
    _omegaconf,
    _absl_flags,
    _dataclass,
    _pydantic,
    _attrs,
    _struct,
    _named_tuple,
    _namespace,
    _to_dict,
)
