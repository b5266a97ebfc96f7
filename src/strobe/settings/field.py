"""One row of the table of settings.

A field sits in a class body as a descriptor: an instance that holds no value of its own reads the default.
Knows no setting by name and no source of values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strobe.settings.kind import Kind


class Field:
    """A setting: its kind, default, one line of documentation, and the names it goes by.

    `wandb` are the names wandb's Settings know it by (also as `WANDB_<NAME>`), `short` further keywords of
    Strobe's own, `env` further variables (with either prefix). A name that starts with `!` means the opposite.
    """

    def __init__(
        self,
        kind: Kind,
        default: Any,
        doc: str,
        *,
        wandb: str = "",
        short: str = "",
        env: str = "",
        secret: bool = False,
        factory: Callable[[], Any] | None = None,
        default_shown: str | None = None,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.default = default
        self.doc = doc
        self.wandb = tuple(wandb.split())
        self.short = tuple(short.split())
        self.env = tuple(env.split())
        self.secret = secret
        self.factory = factory
        self.default_shown = default_shown

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return self.default if self.factory is None else self.factory()

    @property
    def keywords(self) -> tuple[str, ...]:
        """Every keyword for this setting; `!` marks the ones that mean the opposite."""
        return (self.name, *self.short, *(name for name in self.wandb if name != self.name))

    @property
    def strobe_variables(self) -> tuple[str, ...]:
        """The `STROBE_*` variables, the strongest first."""
        suffixes = (self.name, *self.short, *self.env)
        return tuple(dict.fromkeys("STROBE_" + suffix.upper() for suffix in suffixes))

    @property
    def wandb_variables(self) -> tuple[str, ...]:
        """The `WANDB_*` variables, the strongest first; `!` marks the ones that mean the opposite."""
        return tuple(dict.fromkeys(_variable("WANDB_", suffix) for suffix in (*self.env, *self.wandb)))


def _variable(prefix: str, suffix: str) -> str:
    bare = suffix.lstrip("!")
    return ("!" if bare != suffix else "") + prefix + bare.upper()


def setting(kind: Kind, default: Any, doc: str, **names: Any) -> Any:
    """Return a Field, typed as what reading it gives: the annotation beside it says that."""
    return Field(kind, default, doc, **names)
