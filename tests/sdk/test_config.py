from __future__ import annotations

import argparse
import copy
import json
import math
import os
import pickle
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import MissingExtra, RunFinished, SettingsError, StrobeWarning, UsageError
from strobe.journal import event
from strobe.journal.value import decode, encode
from strobe.sdk.config.config import Config
from strobe.sdk.config.source import read_config
from strobe.settings import notice


@pytest.fixture(autouse=True)
def _nothing_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice, "_given", set())


class Journal:
    """Takes events as the recorder does: encoded at once, so that later changes cannot reach them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.has_ended = False

    def __call__(self, happened: event.Event) -> None:
        if self.has_ended:
            raise RunFinished("the run has ended")
        self.events.append(decode(encode(happened)))

    def replayed(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for happened in self.events:
            result.update(happened.get("changes", {}))
            for key in happened.get("removed", []):
                result.pop(key, None)
        return result


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def config(journal: Journal) -> Config:
    return Config(journal, clock_ns=lambda: 7)


def test_items_and_attributes(config: Config, journal: Journal) -> None:
    config["lr"] = 0.1
    config.epochs = 3
    assert (config.lr, config["epochs"], config.get("no"), config.get("no", 1)) == (0.1, 3, None, 1)
    assert "lr" in config
    assert (list(config.keys()), config.values(), config.items()) == (
        ["lr", "epochs"], [0.1, 3], [("lr", 0.1), ("epochs", 3)],
    )  # fmt: skip
    assert len(config) == 2
    assert journal.events == [
        {"type": "config", "time_ns": 7, "changes": {"lr": 0.1}},
        {"type": "config", "time_ns": 7, "changes": {"epochs": 3}},
    ]


def test_update_is_one_event_and_skips_what_is_known(config: Config, journal: Journal) -> None:
    config.update({"a": 1, "b": np.float32(0.5)}, c=Path("x"))
    assert [e["changes"] for e in journal.events] == [{"a": 1, "b": 0.5, "c": "x"}]
    config.update({"a": 1})
    config["c"] = "x"
    assert len(journal.events) == 1


def test_changing_a_value_needs_leave(config: Config, journal: Journal) -> None:
    config.update({"lr": 0.1, "n": float("nan")})
    with pytest.raises(UsageError, match=r"config\['lr'\] is 0.1 and was to become 0.2; pass allow_val_change=True"):
        config.lr = 0.2
    with pytest.raises(UsageError):
        config.update({"new": 1, "lr": 0.2})
    assert config == {"lr": 0.1, "n": config["n"]}  # none of the update was done
    config.update({"n": float("nan")})  # NaN is no change of NaN
    config.update({"lr": 0.2}, allow_val_change=True)
    assert config.lr == 0.2
    assert journal.replayed()["lr"] == 0.2


def test_resumed_run_may_change_and_records_only_changes(journal: Journal) -> None:
    config = Config(journal, {"lr": 0.1, "nested": {"a": 1}}, allow_val_change=True)
    config.update({"lr": 0.1, "nested": {"a": 1}})
    assert journal.events == []
    config.lr = 0.2
    with pytest.raises(UsageError):
        config.update({"lr": 0.3}, allow_val_change=False)
    assert journal.replayed() == {"lr": 0.2}


def test_nested_assignment_is_recorded(config: Config, journal: Journal) -> None:
    config["model"] = {"layers": {"n": 2}, "act": "relu"}
    config["model"]["layers"]["n"] = 3
    config.model.layers.width = 64
    config.model.update({"act": "gelu"}, drop=0.1)
    del config.model.layers["n"]
    config.model |= {"bias": True}
    expected = {"model": {"layers": {"width": 64}, "act": "gelu", "drop": 0.1, "bias": True}}
    assert config == expected
    assert journal.replayed() == expected


def test_sections_see_each_others_changes(config: Config) -> None:
    config["a"] = {"b": {"c": 1}}
    first, second, inner = config["a"], config.a, config.a.b
    first["b"]["c"] = 2
    assert (second, inner) == ({"b": {"c": 2}}, {"c": 2})
    config.update({"a": {"b": {"d": 5}}}, allow_val_change=True)
    assert (first, inner) == ({"b": {"d": 5}}, {"d": 5})
    assert json.loads(json.dumps(second)) == {"b": {"d": 5}}


def test_section_that_is_gone_says_so(config: Config) -> None:
    config["a"] = {"b": 1}
    section = config["a"]
    config.update({"a": 5}, allow_val_change=True)
    with pytest.raises(UsageError, match="no longer nested at"):
        section["b"] = 2
    assert config.a == 5
    del config["a"]
    config["a"] = {"b": 3}
    assert config.a.b == 3


def test_sections_are_dicts_in_every_respect(config: Config) -> None:
    config["m"] = {"sizes": [1, 2], "inner": {"x": 1}}
    assert isinstance(config["m"], dict)
    assert (lambda **kw: kw)(**config["m"]) == {"sizes": [1, 2], "inner": {"x": 1}}
    assert json.loads(json.dumps(config)) == config.as_dict()
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(config)) == config.as_dict()
    plain_dict = dict(config)
    assert type(plain_dict) is type(plain_dict["m"]) is type(plain_dict["m"]["inner"]) is dict
    assert type({**config}["m"]) is type(dict(config["m"])["inner"]) is dict
    assert type(config.as_dict()["m"]["inner"]) is type(config.copy()["m"]) is dict
    assert repr(config) == repr(config.as_dict())


def test_as_dict_is_independent(config: Config, journal: Journal) -> None:
    config["m"] = {"sizes": [1]}
    taken = config.as_dict()
    taken["m"]["sizes"].append(2)
    config.persist()
    assert config.m.sizes == [1]
    assert len(journal.events) == 1


def test_given_values_are_copied(config: Config) -> None:
    mine = {"a": [1]}
    config["m"] = mine
    mine["a"].append(2)
    assert config.m.a == [1]


def test_persist_records_what_was_changed_behind_its_back(config: Config, journal: Journal) -> None:
    config["layers"] = [1]
    config["kept"] = 1
    config.layers.append(np.int64(2))
    config.persist()
    config.persist()
    assert [e["changes"] for e in journal.events[2:]] == [{"layers": [1, 2]}]


def test_removal(config: Config, journal: Journal) -> None:
    config.update({"a": 1, "b": {"c": 2}, "d": 3, "e": 4, "f": 5})
    del config["a"]
    assert config.pop("b") == {"c": 2}
    assert config.pop("b", None) is None
    del config.d
    assert config.popitem() == ("f", 5)
    assert journal.replayed() == config == {"e": 4}
    config.clear()
    assert journal.replayed() == config == {}
    config.clear()
    for missing in (lambda: config.pop("x"), lambda: config.__delitem__("x"), config.popitem):
        with pytest.raises(KeyError):
            missing()
    with pytest.raises(AttributeError):
        del config.x


def test_setdefault(config: Config, journal: Journal) -> None:
    config.a = 1
    assert (config.setdefault("a", 2), config.setdefault("b", {"c": 1})) == (1, {"c": 1})
    config.setdefaults({"a": 5, "c": 6})
    assert journal.replayed() == config == {"a": 1, "b": {"c": 1}, "c": 6}


def test_missing_attribute_names_near_keys(config: Config) -> None:
    with pytest.raises(AttributeError, match="config has no key 'lr'; it has no keys"):
        _ = config.lr
    config.update({"learning_rate": 0.1, "epochs": 1})
    with pytest.raises(AttributeError, match="no key 'learning_rat'; did you mean learning_rate"):
        _ = config.learning_rat
    with pytest.raises(AttributeError, match="it has learning_rate, epochs"):
        _ = config.zzz
    with pytest.raises(KeyError):
        _ = config["zzz"]
    assert not hasattr(config, "zzz")
    assert getattr(config, "zzz", 5) == 5
    assert "learning_rate" in dir(config)


def test_private_and_method_names_are_no_keys(config: Config) -> None:
    with pytest.raises(AttributeError, match=r"config\._x is private; write config\['_x'\]"):
        config._x = 1
    with pytest.raises(AttributeError, match=r"config\.items is a method"):
        config.items = 1  # type: ignore[method-assign,assignment]
    config["items"] = 1
    config["_x"] = 2
    assert config.as_dict() == {"items": 1, "_x": 2}
    assert not hasattr(config, "_repr_html_")
    assert (config._items, config._as_dict()) == (config, config)


def test_copies_are_detached(config: Config, journal: Journal) -> None:
    config["a"] = {"b": 1}
    for twin in (copy.copy(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert isinstance(twin, Config)
        twin.a.b = 5
        twin.c = 6
        assert twin == {"a": {"b": 5}, "c": 6}
    section = pickle.loads(pickle.dumps(config["a"]))
    section.b = 9
    assert config == {"a": {"b": 1}}
    assert len(journal.events) == 1


def test_locked_keys_keep_their_value(config: Config, journal: Journal) -> None:
    config["lr"] = 1
    config.update_locked({"lr": 0.1, "opt": {"a": 1}}, user="sweep", _allow_val_change=True)
    with pytest.warns(StrobeWarning, match=r"config\['lr'\] is locked by sweep; the change was ignored"):
        config.update({"lr": 0.5, "free": 1}, allow_val_change=True)
    config.lr = 0.7  # warned already
    with pytest.warns(StrobeWarning, match=r"config\['opt'\]"):
        config.opt.a = 2
    del config["opt"]
    config.merge_locked({"opt": {"b": 2}}, user="sweep", _allow_val_change=True)
    assert journal.replayed() == config == {"lr": 0.1, "opt": {"a": 1, "b": 2}, "free": 1}


def test_what_the_journal_refuses_did_not_happen(config: Config, journal: Journal) -> None:
    config["a"] = {"b": 1}
    journal.has_ended = True
    for change in (lambda: config.update({"c": 1}), lambda: config.a.update({"b": 2}), lambda: config.pop("a")):
        with pytest.raises(RunFinished):
            change()
    assert config == {"a": {"b": 1}}


def test_huge_integers_and_special_floats(config: Config, journal: Journal) -> None:
    config.update({"seed": 2**200, "deep": {"seeds": [-(2**100)]}, "inf": math.inf})
    assert journal.replayed() == config == {"seed": 2**200, "deep": {"seeds": [-(2**100)]}, "inf": math.inf}


def test_dashes_are_stripped_as_in_wandb(config: Config) -> None:
    config.update({"--lr": 1, "-": 2})
    assert config == {"lr": 1, "-": 2}


def test_many_threads_lose_no_change(config: Config, journal: Journal) -> None:
    config["s"] = {}

    def work(number: int) -> None:
        for index in range(20):
            config["s"][f"{number}-{index}"] = index
            config[f"{number}-{index}"] = index

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(config["s"]) == 80
    assert journal.replayed() == config


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_while_another_thread_changes_the_config(config: Config) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(_: event.Event) -> None:
        entered.set()
        leave.wait(10)

    object.__setattr__(config, "_emit", slow)
    thread = threading.Thread(target=lambda: config.update({"a": 1}))
    thread.start()
    entered.wait(10)
    if (pid := os.fork()) == 0:
        object.__setattr__(config, "_emit", None)
        config["child"] = 1  # must not wait for a thread that is not here
        os._exit(0 if config.child == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    leave.set()
    thread.join()


_KEYS = st.sampled_from(["a", "b", "c"])
_VALUES = st.recursive(st.integers() | st.floats(allow_nan=False), lambda v: st.dictionaries(_KEYS, v, max_size=3))


@given(st.lists(st.tuples(st.lists(_KEYS, min_size=1, max_size=3), _VALUES | st.none())))
def test_journal_always_replays_to_the_config(steps: list[tuple[list[str], Any]]) -> None:
    journal = Journal()
    config = Config(journal, allow_val_change=True)
    model: dict[str, Any] = {}
    for path, value in steps:
        view: Any = config
        node: Any = model
        for key in path[:-1]:
            view, node = view.get(key), node.get(key)
            if not isinstance(node, dict):
                break
        else:
            if value is None:
                view.pop(path[-1], None)
                node.pop(path[-1], None)
            else:
                view[path[-1]] = value
                node[path[-1]] = copy.deepcopy(value)
        assert dict(config) == config.as_dict() == journal.replayed() == model


# --- sources


@dataclass
class Options:
    lr: float = 0.1


@pytest.mark.parametrize(
    "source",
    [
        {"lr": 0.1},
        argparse.Namespace(lr=0.1),
        types.SimpleNamespace(lr=0.1),
        Options(),
        types.MappingProxyType({"lr": np.float64(0.1)}),
        Config(None, {"lr": 0.1}),
    ],
)
def test_sources(source: Any, config: Config, journal: Journal) -> None:
    config.update(source)
    assert journal.replayed() == config == {"lr": 0.1}


@pytest.mark.parametrize("source", [5, [1], Options, object()])
def test_what_is_no_config(source: Any) -> None:
    with pytest.raises(UsageError, match="give a dict, a namespace"):
        read_config(source)


def test_include_and_exclude() -> None:
    source = {"a": 1, "b": 2, "c": 3}
    assert read_config(None) == {}
    assert read_config(source, include=["a", "z"]) == {"a": 1}
    assert read_config(source, exclude={"a"}, include=[]) == {"b": 2, "c": 3}
    with pytest.raises(UsageError, match="not both"):
        read_config(source, include=["a"], exclude=["b"])
    with pytest.raises(UsageError, match="config_include_keys is the text 'ab'"):
        read_config(source, include="ab")


def test_files(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"a": {"b": [1]}}')
    (tmp_path / "c.toml").write_text("[a]\nb = [1]\n")
    assert read_config(str(tmp_path / "c.json")) == read_config(tmp_path / "c.toml") == {"a": {"b": [1]}}
    (tmp_path / "bad.json").write_text("{\n]")
    with pytest.raises(UsageError, match=r"bad\.json:2: not valid JSON"):
        read_config(tmp_path / "bad.json")
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(UsageError, match="holds a list at the top"):
        read_config(tmp_path / "list.json")
    (tmp_path / "bad.toml").write_text("a =\n")
    with pytest.raises(SettingsError, match=r"bad\.toml:1"):
        read_config(tmp_path / "bad.toml")
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(tmp_path / "none.json")
    with pytest.raises(UsageError, match=r"neither \.json, \.yaml nor \.toml"):
        read_config("c.ini")


class _Yaml(types.ModuleType):
    """Enough of PyYAML to see that it is asked: JSON is a subset of YAML."""

    class YAMLError(Exception):
        problem = "did not find expected key"
        problem_mark = types.SimpleNamespace(line=1)

    @classmethod
    def safe_load(cls, text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as exc:
            raise cls.YAMLError from exc


@pytest.fixture
def yaml_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(sys.modules, "yaml", _Yaml("yaml"))
    return tmp_path / "c.yaml"


def test_yaml(yaml_file: Path) -> None:
    yaml_file.write_text('{"a": 1}')
    assert read_config(yaml_file) == {"a": 1}
    yaml_file.write_text('{"wandb_version": 1, "lr": {"desc": null, "value": 0.1}, "_wandb": {"value": {}}}')
    assert read_config(yaml_file) == {"lr": 0.1}
    yaml_file.write_text(":")
    with pytest.raises(UsageError, match=r"c\.yaml:2: not valid YAML: did not find"):
        read_config(yaml_file)


def test_yaml_without_pyyaml(yaml_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    yaml_file.write_text("a: 1")
    with pytest.raises(MissingExtra, match="pip install pyyaml"):
        read_config(yaml_file)
