"""The rules of a project."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from strobe.errors import NotInStore, UsageError
from strobe.store.alerts.condition import Condition, Level, decode_condition, encode_condition, kind_of
from strobe.store.database import Cursor, Database, Row, marks

MOST = 200
_COLUMNS = "id, project_id, name, condition, level, sinks, is_enabled, created_by, created_ns"
_decode_ids = msgspec.json.Decoder(list[int]).decode


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """When to raise an alert, how loud, and where it goes."""

    id: int
    project_id: int
    name: str
    condition: Condition
    level: Level
    #: ids of sinks; none for all of the project
    sinks: list[int]
    is_enabled: bool
    created_by: str
    created_ns: int


class Rules:
    """Rules of all projects."""

    def __init__(self, database: Database, clock: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._clock = clock

    def of_project(self, project_id: int) -> list[Rule]:
        sql = f"SELECT {_COLUMNS} FROM alert_rule WHERE project_id = ? ORDER BY id"
        return self._database.read(lambda cursor: [rule_of(row) for row in cursor.all(sql, project_id)])

    def get(self, project_id: int, rule_id: int) -> Rule:
        return self._database.read(lambda cursor: _get(cursor, project_id, rule_id))

    def add(
        self,
        project_id: int,
        name: str,
        condition: Condition,
        *,
        level: Level = "WARN",
        sinks: list[int] | None = None,
        is_enabled: bool = True,
        by: str = "",
    ) -> Rule:
        """Make a rule; it looks at what comes in from now on."""

        def change(cursor: Cursor) -> Rule:
            found = cursor.one("SELECT count(*) FROM alert_rule WHERE project_id = ?", project_id)
            if found is not None and found[0] >= MOST:
                raise UsageError(f"the project has {found[0]} rules, at most {MOST} are looked at; remove some")
            row = cursor.one(
                "INSERT INTO alert_rule"
                " (project_id, name, kind, condition, level, sinks, is_enabled, created_by, created_ns)"
                f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING {_COLUMNS}",
                project_id, name, kind_of(condition), encode_condition(condition), level,
                _sinks(cursor, project_id, sinks or []), int(is_enabled), by, self._clock(),
            )  # fmt: skip
            assert row is not None
            return rule_of(row)

        return self._database.write(change)

    def change(
        self,
        project_id: int,
        rule_id: int,
        *,
        name: str | None = None,
        condition: Condition | None = None,
        level: Level | None = None,
        sinks: list[int] | None = None,
        is_enabled: bool | None = None,
    ) -> Rule:
        """Change what is given. A changed condition starts over."""

        def change(cursor: Cursor) -> Rule:
            rule = _get(cursor, project_id, rule_id)
            new = condition or rule.condition
            cursor.run(
                "UPDATE alert_rule SET name = ?, kind = ?, condition = ?, level = ?, sinks = ?, is_enabled = ?"
                " WHERE id = ?",
                rule.name if name is None else name,
                kind_of(new),
                encode_condition(new),
                level or rule.level,
                _sinks(cursor, project_id, rule.sinks if sinks is None else sinks),
                int(rule.is_enabled if is_enabled is None else is_enabled),
                rule_id,
            )
            if new != rule.condition:
                cursor.run("DELETE FROM alert_streak WHERE rule_id = ?", rule_id)
            return _get(cursor, project_id, rule_id)

        return self._database.write(change)

    def remove(self, project_id: int, rule_id: int) -> None:
        """Remove a rule; alerts that it raised stay."""

        def change(cursor: Cursor) -> None:
            _get(cursor, project_id, rule_id)
            cursor.run("DELETE FROM alert_streak WHERE rule_id = ?", rule_id)
            cursor.run("DELETE FROM alert_rule WHERE id = ?", rule_id)

        self._database.write(change)


def enabled_rules(cursor: Cursor, kinds: tuple[str, ...], project_id: int | None = None) -> list[Rule]:
    """Return the rules of some kinds that are switched on, of a project or of all."""
    sql = f"SELECT {_COLUMNS} FROM alert_rule WHERE is_enabled = 1 AND kind IN ({marks(len(kinds))})"
    if project_id is None:
        return [rule_of(row) for row in cursor.all(sql, *kinds)]
    return [rule_of(row) for row in cursor.all(f"{sql} AND project_id = ?", *kinds, project_id)]


def has_rules(cursor: Cursor, kinds: tuple[str, ...]) -> bool:
    """Tell whether any project has a rule of these kinds that is switched on."""
    sql = f"SELECT 1 FROM alert_rule WHERE is_enabled = 1 AND kind IN ({marks(len(kinds))}) LIMIT 1"
    return cursor.one(sql, *kinds) is not None


def rule_of(row: Row) -> Rule:
    rule_id, project_id, name, condition, level, sinks, is_enabled, created_by, created_ns = row
    return Rule(
        id=rule_id,
        project_id=project_id,
        name=name,
        condition=decode_condition(condition),
        level=level,
        sinks=_decode_ids(sinks),
        is_enabled=bool(is_enabled),
        created_by=created_by,
        created_ns=created_ns,
    )


def _get(cursor: Cursor, project_id: int, rule_id: int) -> Rule:
    row = cursor.one(f"SELECT {_COLUMNS} FROM alert_rule WHERE id = ? AND project_id = ?", rule_id, project_id)
    if row is None:
        raise NotInStore(f"the project has no alert rule {rule_id}")
    return rule_of(row)


def _sinks(cursor: Cursor, project_id: int, ids: list[int]) -> str:
    """Return the column's text, after a look whether these are sinks of the project."""
    known = {row[0] for row in cursor.all("SELECT id FROM alert_sink WHERE project_id = ?", project_id)}
    unknown = sorted(set(ids) - known)
    if unknown:
        raise UsageError(f"the project has no alert sink {unknown[0]}; it has {sorted(known)}")
    return msgspec.json.encode(sorted(set(ids))).decode()
