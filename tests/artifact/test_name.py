"""Names: what is allowed, and how a path to an artifact is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.artifact.name import (
    ArtifactPath,
    check_alias,
    check_artifact_name,
    check_tag,
    check_type,
    entry_path,
    safe_artifact_name,
    version_number,
)
from strobe.errors import UsageError


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a:b", "a b", "ä", "a#b", "a%b", "x" * 129, None, 3, "a\n"])
def test_bad_names_are_usage_errors(name: object) -> None:
    with pytest.raises(UsageError, match="artifact name"):
        check_artifact_name(name)


@pytest.mark.parametrize("name", ["a", "a.b-c_d", "x" * 128, "-", "run-1-model.pt"])
def test_good_names_pass(name: str) -> None:
    assert check_artifact_name(name) == name


@given(st.text())
def test_any_text_can_be_made_a_name(text: str) -> None:
    check_artifact_name(safe_artifact_name(text))


@pytest.mark.parametrize("alias", ["", "a/b", "a:b", "v3", "..", "a\x00", None])
def test_bad_aliases_are_usage_errors(alias: object) -> None:
    with pytest.raises(UsageError, match="alias"):
        check_alias(alias)


@pytest.mark.parametrize("alias", ["latest", "best", "epoch 3", "v", "v03", "1.0"])
def test_good_aliases_pass(alias: str) -> None:
    assert check_alias(alias) == alias


def test_tags_and_types() -> None:
    assert check_tag("a b-c_d") == "a b-c_d"
    assert check_type("run_table") == "run_table"
    for bad in ("a/b", "", None):
        with pytest.raises(UsageError, match="tag"):
            check_tag(bad)
    for bad in ("", None, "a\nb", "x" * 129):
        with pytest.raises(UsageError, match="type"):
            check_type(bad)


def test_version_numbers() -> None:
    assert [version_number(text) for text in ("v0", "v12", "v01", "v", "12", "latest")] == [
        0,
        12,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("path", ["", ".", "/a", "..", "../a", "a/../b", "a/..", "a\x00b", "C:/a"])
def test_entry_paths_never_climb(path: str) -> None:
    with pytest.raises(UsageError, match="artifact path"):
        entry_path(path)


def test_entry_paths_have_one_form() -> None:
    assert entry_path("./a//b/./c.txt") == "a/b/c.txt"


@given(st.text())
def test_an_accepted_entry_path_stays_below(path: str) -> None:
    try:
        clean = entry_path(path)
    except UsageError:
        return
    assert not clean.startswith("/")
    assert ".." not in clean.split("/")
    assert entry_path(clean) == clean


def test_paths_to_artifacts() -> None:
    full = ArtifactPath.parse("me/p/n:best")
    assert str(full) == "me/p/n:best"
    assert str(ArtifactPath.parse("wandb-artifact://me/p/n:v1")) == "me/p/n:v1"
    assert str(ArtifactPath.parse("p/n")) == "local/p/n:latest"
    assert str(ArtifactPath.parse("n:v3", entity="e", project="q")) == "e/q/n:v3"
    for bad in ("n", "a/b/c/n", "e//n", "e/../n", "p/n b"):
        with pytest.raises(UsageError):
            ArtifactPath.parse(bad)
    with pytest.raises(UsageError, match="named by a string"):
        ArtifactPath.parse(3)  # type: ignore[arg-type]  # what a caller may do
