"""A device that is not here is refused before anything is measured, and one that is has its name in the results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from strobe.bench import registry
from strobe.bench.records import NOT_HERE, Environment
from strobe.bench.runner import device
from strobe.bench.runner.device import refuse_missing
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.process import Failure, run_repeat
from strobe.bench.runner.session import _begin
from strobe.cli import USAGE, main
from strobe.errors import Error, UsageError

OWN = Path(__file__).parents[1] / "own.py"


def _python(directory: Path, names: list[str], build: str = "12.8") -> str:
    """Make an interpreter whose torch finds these cards, and says which CUDA it was built with."""
    path = directory / "python"
    path.write_text(f"#!/bin/sh\necho '{json.dumps({'names': names, 'build': build})}'\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("device", "names", "build", "reason"),
    [
        ("cuda", [], "", "torch is built without CUDA"),
        ("cuda:1", [], "12.8", "torch finds no card"),
        ("cuda:2", ["H100", "A100"], "12.8", "torch counts 2 from cuda:0 on"),
    ],
)
def test_a_card_that_is_not_here_is_refused(
    tmp_path: Path, device: str, names: list[str], build: str, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        refuse_missing(device, _python(tmp_path, names, build))


def test_what_is_here_or_nobody_can_tell_is_taken(tmp_path: Path) -> None:
    refuse_missing("cuda:1", _python(tmp_path, ["H100", "A100"]))
    refuse_missing("cpu", "no-such-python")
    refuse_missing("cuda", "/bin/false")


def test_a_torch_that_does_not_answer_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    python.chmod(0o755)
    monkeypatch.setattr(device, "_LIMIT_S", 0.05)
    with pytest.raises(Error, match=r"did not say within 0.05 s which cards there are; it is too busy, or hangs"):
        refuse_missing("cuda", str(python))


def _environment(python: str, device: str, config: str = "Plain") -> Environment:
    cell = Cell(registry.find_one(f"own/micro/test/{config}", [OWN]), 1)
    machine = Environment(hardware={"cpu": "EPYC"})
    options = Options(device=device, python=python, files=(OWN,))
    return _begin(cell, options, machine, is_sealed=False).record.environment


def test_results_of_two_cards_of_a_machine_are_those_of_two_systems(tmp_path: Path) -> None:
    python = _python(tmp_path, ["NVIDIA H100", "NVIDIA A100"])
    first, second = (_environment(python, device) for device in ("cuda", "cuda:1"))
    assert (first.accelerator, second.accelerator) == ("NVIDIA H100", "NVIDIA A100")
    assert first.fingerprint != second.fingerprint
    assert _environment(python, "cuda:0") == first
    assert _environment(python, "cuda", "Facts-2dev").accelerator == "NVIDIA H100, NVIDIA A100"


def test_rows_of_one_card_and_of_two_alike_are_of_one_system(tmp_path: Path) -> None:
    python = _python(tmp_path, ["NVIDIA H100", "NVIDIA H100"])
    assert _environment(python, "cuda", "Facts-2dev") == _environment(python, "cuda")


def test_a_row_on_the_cpu_has_the_fingerprint_of_its_machine(tmp_path: Path) -> None:
    assert _environment(_python(tmp_path, ["NVIDIA H100"]), "cpu") == Environment(hardware={"cpu": "EPYC"})


def _fail(python: str, device: str) -> str:
    cell = Cell(registry.find_one("own/micro/test/Facts-2dev", [OWN]), 1)
    outcome = run_repeat(cell, Options(device=device, python=python, files=(OWN,)), is_checked=False)
    assert isinstance(outcome, Failure)
    return outcome.text


def test_a_row_of_more_devices_than_there_are_cards_is_left_out(tmp_path: Path) -> None:
    python = _python(tmp_path, ["H100"])
    assert _fail(python, "cuda") == f"{NOT_HERE}needs 2 cards, torch finds 1"


def test_a_row_of_several_devices_is_not_put_on_one_card(tmp_path: Path) -> None:
    python = _python(tmp_path, ["H100", "H100"])
    assert _fail(python, "cuda:1").startswith(f"{NOT_HERE}needs 2 cards, and --device cuda:1 is one of them")
    # With enough of them it is tried, which this stand-in of an interpreter is not up to.
    assert _fail(python, "cuda").startswith("ended before it was done")


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
