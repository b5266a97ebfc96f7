"""Notebooks: cells run again, prints between them, and a kernel that is shut down or dies."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import strobe
from strobe.home import Home
from strobe.sdk import current
from tests.sdk.scripts import column, environment, replay_of

# -- a process that looks like a kernel


@pytest.mark.usefixtures("notebook")
def test_init_in_a_cell_that_runs_again_finishes_the_previous_run(home: Home) -> None:
    first = strobe.init(project="p")
    first.log({"x": 1})
    second = strobe.init(project="p")
    assert second.id != first.id
    assert replay_of(first._recorder.run_dir).state == "finished"
    strobe.log({"x": 2})
    assert column(replay_of(second._recorder.run_dir), "x") == [2]


@pytest.mark.usefixtures("notebook")
def test_return_previous_holds_in_a_notebook_too(home: Home) -> None:
    first = strobe.init(project="p")
    assert strobe.init(project="p", reinit="return_previous") is first


@pytest.mark.parametrize(
    "shell",
    [None, SimpleNamespace(config={}), SimpleNamespace(), SimpleNamespace(config={"TerminalIPythonApp": {}})],
)
def test_an_ipython_terminal_is_no_notebook(home: Home, monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    module = ModuleType("IPython")
    module.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    first = strobe.init(project="p")
    assert strobe.init(project="p") is first


def test_a_run_shows_itself(home: Home) -> None:
    with strobe.init(project="p", name="the name") as run:
        for step in range(20):
            run.log({"loss": 1 / (step + 1)})
        bundle = run._repr_mimebundle_()
        assert {"text/html", "text/plain"} <= set(bundle)
        assert "svg" in bundle["text/html"]
        assert "the name" in bundle["text/html"]
        assert run.to_html() == run._repr_mimebundle_()["text/html"]


class Cells:
    """A shell that, like IPython's, wraps `write` for the length of each cell and then puts back what it found."""

    def __init__(self) -> None:
        self.events = self
        self.calls: list[Any] = []

    def register(self, event: str, call: Any) -> None:
        assert event == "pre_run_cell"
        self.calls.append(call)

    def unregister(self, event: str, call: Any) -> None:
        self.calls.remove(call)

    def run(self, work: Any) -> None:
        found = sys.stdout.write

        def tee(text: str) -> int:
            return found(text)

        sys.stdout.write = tee  # type: ignore[method-assign]
        try:
            for call in self.calls:
                call(object())
            work()
        finally:
            sys.stdout.write = found  # type: ignore[method-assign]


def test_prints_of_every_cell_are_recorded_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    cells, module, stream = Cells(), ModuleType("IPython"), io.StringIO()
    module.get_ipython = lambda: cells  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("STROBE_CONSOLE", "wrap")
    cells.run(lambda: strobe.init(project="p"))
    run = current.active_runs()[0]
    cells.run(lambda: print("second", "cell"))
    print("between")
    cells.run(lambda: print("third"))
    cells.run(run.finish)
    cells.run(lambda: print("after the end"))
    assert cells.calls == []
    assert stream.getvalue() == "second cell\nbetween\nthird\nafter the end\n"
    recorded = "".join(event.text for event in replay_of(run._recorder.run_dir).console())
    assert recorded == "second cell\nthird\n"


# -- a real kernel


def notebook_of(*cells: str) -> Any:
    nbformat = pytest.importorskip("nbformat")
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


@pytest.fixture
def kernel_environment(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipykernel")
    home.path.mkdir(parents=True)
    for name, value in environment(home).items():
        monkeypatch.setenv(name, value)


def run_cells(home: Home, notebook: Any, order: list[int]) -> list[str]:
    """Execute the cells in this order in one kernel and return what each printed."""
    nbclient = pytest.importorskip("nbclient")
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True)
    said = []
    with client.setup_kernel(cwd=str(home.path)):
        for index in order:
            cell = client.execute_cell(notebook.cells[index], index, store_history=True)
            said.append("".join(out.get("text", "") or out.get("ename", "") for out in cell.outputs))
    return said


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.usefixtures("kernel_environment")
@pytest.mark.filterwarnings("ignore")  # what zmq and asyncio say of each other is not ours
def test_cells_that_run_again_in_a_real_kernel(home: Home) -> None:
    notebook = notebook_of(
        "import strobe\nrun = strobe.init(project='p', config={'lr': 0.1})\nprint(run.id)",
        "for step in range(5):\n    strobe.log({'x': step})\nprint('logged', strobe.config.lr)",
        "raise ValueError('a mistake in a cell')",
        "print(run.step)\nrun",
    )
    said = run_cells(home, notebook, [0, 1, 2, 1, 3, 0, 1])
    first, second = said[0].strip(), said[5].strip()
    assert first != second
    assert said[1].strip() == "logged 0.1"
    assert said[2] == "ValueError"
    assert said[4].strip() == "10"
    found = {run_dir.path.name: replay_of(run_dir) for run_dir in home.iter_runs()}
    assert set(found) == {first, second}
    # A mistake in a cell is not the end of the run; what was logged after it is there.
    assert column(found[first], "x") == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    assert column(found[second], "x") == [0, 1, 2, 3, 4]
    assert found[first].state == "finished"
    assert found[second].state in {"finished", "crashed"}
    console = "".join(event.text for event in found[first].console())
    assert [line for line in console.splitlines() if line] == [first, "logged 0.1", "logged 0.1", "10"]
