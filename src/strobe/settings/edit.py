"""Change one key of a TOML file and leave everything else as it was: order, comments, spacing.

The text is cut into statements by the TOML parser itself, one of them is replaced, added or taken out, and the result
is parsed again: if anything but the one key changed, the file is not touched and the user is asked to edit it by hand.
Knows TOML text; what a setting is, it does not know.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strobe.errors import SettingsError
from strobe.settings.files import PYPROJECT, parse_document

Keys = tuple[str, ...]
_ABSENT: Any = object()


def set_value(path: Path, key: str, value: Any, *, private: bool = False) -> None:
    """Set a setting in a settings file, which is made if it is not there (`private`: for the user's eyes only)."""
    text = _read(path)
    _write(path, _checked(path, text, with_value(text, (*_table(path), key), value), key, value), private=private)


def unset_value(path: Path, key: str) -> bool:
    """Take a setting out of a settings file; return whether it was there."""
    text = _read(path)
    changed = without_value(text, (*_table(path), key))
    if changed == text:
        return False
    _write(path, _checked(path, text, changed, key, _ABSENT), private=False)
    return True


def with_value(text: str, keys: Keys, value: Any) -> str:
    """Return the TOML text with the value at `keys` replaced or added."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    statements = _statements(lines)
    for statement in statements:
        if statement.holds(keys):
            lines[statement.start : statement.end] = [_replaced("".join(statement.lines), value)]
            return "".join(lines)
    added = f"{_key(keys[-1])} = {to_toml(value)}{newline}"
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    place = _place(lines, statements, keys[:-1])
    if place is None:
        header = "[" + ".".join(map(_key, keys[:-1])) + "]" + newline
        return "".join([*lines, newline if lines else "", header, added])
    if not keys[:-1] and place < len(lines) and not any(s.table == () and not s.is_header for s in statements):
        added += newline  # keys at the top, then a blank line, then the first table
    return "".join([*lines[:place], added, *lines[place:]])


def without_value(text: str, keys: Keys) -> str:
    """Return the TOML text without the value at `keys`."""
    lines = text.splitlines(keepends=True)
    for statement in _statements(lines):
        if statement.holds(keys):
            del lines[statement.start : statement.end]
            return "".join(lines)
    return text


def to_toml(value: Any) -> str:
    """Return a setting's value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
    return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")


class _Statement:
    """Lines start:end, a header or one key with its value, in the table that precedes it."""

    __slots__ = ("content", "end", "is_header", "lines", "start", "table")

    def __init__(self, start: int, lines: list[str], table: Keys, content: dict[str, Any], is_header: bool) -> None:
        self.start, self.end, self.lines = start, start + len(lines), lines
        self.table, self.content, self.is_header = table, content, is_header

    def holds(self, keys: Keys) -> bool:
        """Return whether this statement gives the value at `keys`."""
        if self.is_header or keys[: len(self.table)] != self.table or len(keys) <= len(self.table):
            return False
        return _at(self.content, keys[len(self.table) :]) is not _ABSENT


def _statements(lines: list[str]) -> list[_Statement]:
    found: list[_Statement] = []
    table: Keys = ()
    start = 0
    while start < len(lines):
        bare = lines[start].strip()
        if not bare or bare.startswith("#"):
            start += 1
            continue
        end, content = _extent(lines, start)
        is_header = bare.startswith("[")
        if is_header:
            table = _header_keys(content)
        found.append(_Statement(start, lines[start:end], table, content, is_header))
        start = end
    return found


def _extent(lines: list[str], start: int) -> tuple[int, dict[str, Any]]:
    """Return the end and the content of the statement that begins at `start`: it ends where it can be parsed."""
    for end in range(start + 1, len(lines) + 1):
        try:
            return end, parse_document("".join(lines[start:end]), Path())
        except SettingsError:
            continue
    raise SettingsError(f"line {start + 1} is not valid TOML")


def _header_keys(content: Any) -> Keys:
    keys = []
    while isinstance(content, dict) and content:
        (key, content), *_ = content.items()
        keys.append(key)
    # An array of tables gives a list: what follows belongs to its last element, never to our table.
    return (*keys, "[]") if isinstance(content, list) else tuple(keys)


def _place(lines: list[str], statements: list[_Statement], table: Keys) -> int | None:
    """Return the line before which a new key of `table` goes, None if there is no such table."""
    own = [statement for statement in statements if statement.table == table]
    if own:
        return own[-1].end
    if table:
        return None
    if not statements:
        return len(lines)
    place = statements[0].start
    while place > 0 and lines[place - 1].lstrip().startswith("#"):  # a comment belongs to the table under it
        place -= 1
    return place


def _replaced(statement: str, value: Any) -> str:
    """Return a statement with another value; indent, spacing, comment and line end are kept."""
    head, _, rest = statement.partition("=")
    spaces = rest[: len(rest) - len(rest.lstrip(" \t"))] or " "
    ending = rest[len(rest.rstrip("\r\n")) :]
    return f"{head}={spaces}{to_toml(value)}{_comment(rest)}{ending}"


def _comment(rest: str) -> str:
    """Return the comment at the end of a value, with the blanks before it."""
    body = rest.rstrip("\r\n")
    for found in re.finditer(r"[ \t]*#", body):
        try:
            before = parse_document(f"v = {body[: found.start()].strip()}", Path())
        except SettingsError:
            continue  # inside a string or an array
        if before == parse_document(f"v = {body.strip()}", Path()):
            return body[found.start() :]
    return ""


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _table(path: Path) -> Keys:
    return ("tool", "strobe") if path.name == PYPROJECT else ()


def _at(tree: Any, keys: Keys) -> Any:
    for key in keys:
        if not isinstance(tree, Mapping) or key not in tree:
            return _ABSENT
        tree = tree[key]
    return tree


def _checked(path: Path, old: str, new: str, key: str, value: Any) -> str:
    """Return the new text if it says what the old one said, but for the one key."""
    try:
        if parse_document(new, path) == _expected(path, old, key, value):
            return new
    except SettingsError:
        pass  # it is not even TOML any more
    raise SettingsError(f"{path} is written in a way that cannot be changed safely; set {key} there by hand")


def _expected(path: Path, old: str, key: str, value: Any) -> Any:
    document = parse_document(old, path)
    table: Any = document
    for name in _table(path):
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            return None
    if value is _ABSENT:
        table.pop(key, None)
    else:
        table[key] = parse_document(f"v = {to_toml(value)}", path)["v"]
    return document


def _read(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{path}: not UTF-8 at byte {exc.start}; TOML files must be") from exc
    parse_document(text, path)
    return text


def _write(path: Path, text: str, *, private: bool) -> None:
    """Replace the file in one step, so that a reader sees the old or the new one; a link stays a link."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        mode = 0o600 if private else target.stat().st_mode & 0o777 if target.exists() else 0o666
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "wb") as stream:
            stream.write(text.encode())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
