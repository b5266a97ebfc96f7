"""A device that is not here is refused before anything is measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from strobe.bench.runner.device import refuse_missing
from strobe.cli import USAGE, main
from strobe.errors import UsageError


def _python(directory: Path, count: str) -> str:
    """Make an interpreter whose torch counts so many cards, and says which CUDA it was built with."""
    path = directory / "python"
    path.write_text(f"#!/bin/sh\necho {count}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("device", "count", "reason"),
    [
        ("cuda", "0", "torch is built without CUDA"),
        ("cuda:1", "0 12.8", "torch finds no card"),
        ("cuda:2", "2 12.8", "torch counts 2 from cuda:0 on"),
    ],
)
def test_a_card_that_is_not_here_is_refused(tmp_path: Path, device: str, count: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        refuse_missing(device, _python(tmp_path, count))


def test_what_is_here_or_nobody_can_tell_is_taken(tmp_path: Path) -> None:
    refuse_missing("cuda:1", _python(tmp_path, "2 12.8"))
    refuse_missing("cpu", "no-such-python")
    refuse_missing("cuda", "/bin/false")


@pytest.mark.frameworks
@pytest.mark.parametrize("command", [["run", "dlrm/ootb/inference/tiny-100k"], ["peaks"]])
def test_commands_refuse_it(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    assert main(["bench", *command, "--device", "cuda"]) == USAGE
    assert capsys.readouterr().err.startswith("strobe: --device cuda: there is no CUDA here")
    assert not list(tmp_path.iterdir())


def test_this_pythons_torch_answers() -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError):
        refuse_missing("cuda:4096", sys.executable)
