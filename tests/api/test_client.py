"""`strobe.Api` finds runs, projects and nothing that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.api import Api
from strobe.errors import RunNotFound, UsageError
from strobe.home import Home

from .conftest import SECOND, START, MakeRun


@pytest.fixture
def three(make_run: MakeRun) -> None:
    make_run("aaa1", config={"lr": 0.1}, rows=[(0, {"loss": 3.0})], tags=["good"], started_ns=START + 2 * SECOND)
    make_run("aab2", config={"lr": 0.2}, rows=[(0, {"loss": 1.0})], state="failed", started_ns=START)
    make_run("ccc3", project="other", config={"opt": {"name": "adam"}}, started_ns=START + SECOND)


@pytest.mark.usefixtures("three")
class TestThreeRuns:
    def test_runs_of_the_home_and_of_a_project(self, home: Home) -> None:
        api = Api(home)
        assert [run.id for run in api.runs()] == ["aab2", "ccc3", "aaa1"]
        assert [run.id for run in api.runs("proj")] == ["aab2", "aaa1"]
        assert [run.id for run in api.runs("local/other")] == ["ccc3"]
        assert len(api.runs("nothing")) == 0
        assert api.runs()[-1].id == "aaa1"
        assert [run.id for run in api.runs()[:2]] == ["aab2", "ccc3"]

    def test_orders(self, home: Home) -> None:
        api = Api(home)
        assert [run.id for run in api.runs(order="-created_at")] == ["aaa1", "ccc3", "aab2"]
        assert [run.id for run in api.runs(order="+summary_metrics.loss")] == ["aab2", "aaa1", "ccc3"]
        assert [run.id for run in api.runs(order="-summary_metrics.loss")] == ["aaa1", "aab2", "ccc3"]
        assert [run.id for run in api.runs(order="config.lr")] == ["aaa1", "aab2", "ccc3"]

    def test_filters(self, home: Home) -> None:
        def ids(filters: dict[str, object]) -> list[str]:
            return [run.id for run in Api(home).runs(filters=filters)]

        assert ids({"state": "failed"}) == ["aab2"]
        assert ids({"tags": "good"}) == ["aaa1"]
        assert ids({"config.lr": {"$gt": 0.15}}) == ["aab2"]
        assert ids({"config.lr.value": 0.1}) == ["aaa1"]
        assert ids({"config.opt.name": "adam"}) == ["ccc3"]
        assert ids({"summary_metrics.loss": {"$lt": 2}}) == ["aab2"]
        assert ids({"display_name": {"$regex": "aaa"}}) == ["aaa1"]

    def test_unknown_fields_and_operators_are_named(self, home: Home) -> None:
        with pytest.raises(UsageError, match="no field 'colour'"):
            Api(home).runs(filters={"colour": "red"})
        with pytest.raises(UsageError, match="no field 'colour'"):
            Api(home).runs(order="-colour")
        with pytest.raises(UsageError, match=r"\$near"):
            Api(home).runs(filters={"state": {"$near": 1}})

    @pytest.mark.parametrize(
        ("reference", "found"),
        [
            ("aaa1", "aaa1"),
            ("proj/aaa1", "aaa1"),
            ("local/proj/aaa1", "aaa1"),
            ("local/proj/runs/aaa1", "aaa1"),
            ("aab", "aab2"),
            ("name-of-ccc3", "ccc3"),
            ("latest", "aaa1"),
            ("other/latest", "ccc3"),
        ],
    )
    def test_a_run_by_all_its_names(self, home: Home, reference: str, found: str) -> None:
        assert Api(home).run(reference).id == found

    def test_an_ambiguous_prefix_lists_the_candidates(self, home: Home) -> None:
        with pytest.raises(UsageError, match="means 2 runs") as caught:
            Api(home).run("aa")
        assert "proj/aaa1" in str(caught.value)
        assert "proj/aab2" in str(caught.value)

    def test_a_missing_run_gets_a_hint(self, home: Home) -> None:
        with pytest.raises(RunNotFound, match=r"did you mean .*aaa1"):
            Api(home).run("aaa2")

    def test_projects(self, home: Home) -> None:
        api = Api(home)
        assert [project.name for project in api.projects()] == ["other", "proj"]
        assert api.project("proj").num_runs() == 2
        assert [run.id for run in api.project("proj").runs()] == ["aab2", "aaa1"]
        with pytest.raises(RunNotFound, match="it has other, proj"):
            api.project("nope")

    def test_overrides_fill_in_paths(self, home: Home) -> None:
        assert [run.id for run in Api(home, overrides={"project": "other"}).runs()] == ["ccc3"]

    def test_from_path(self, home: Home) -> None:
        assert Api(home).from_path("local/proj").id == "local/proj"
        assert Api(home).from_path("proj/aaa1").id == "aaa1"


def test_the_home_comes_from_the_settings(home: Home) -> None:
    assert Api().home == home
    assert Api({"entity": "me"}).default_entity == "me"  # type: ignore[arg-type]  # wandb's way
    assert Api(str(home.path)).home == home


def test_an_empty_home_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="strobe demo"):
        Api(tmp_path / "none").run("latest")
    assert list(Api(tmp_path / "none").runs()) == []
    assert Api(tmp_path).projects() == []


def test_a_path_that_is_too_long_is_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="more than a project"):
        Api(home).runs("a/b/c")
    with pytest.raises(UsageError, match="is not a run"):
        Api(home).run("a/b/c/d")


def test_viewer_is_a_person(home: Home) -> None:
    assert Api(home).viewer.username
    assert Api(home).viewer.entity == "local"
