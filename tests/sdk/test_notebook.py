"""Notebooks: cells run again, prints between them, and a kernel that is shut down or dies."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import strobe
from strobe.home import Home
from strobe.sdk import current
from tests.sdk.scripts import column, environment, replay_of

SVG = "{http://www.w3.org/2000/svg}"

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


# -- what a cell shows


def shown_steps(cell: Any) -> list[int]:
    """Return the last step of each picture of a run that a cell shows."""
    steps = []
    for output in cell.outputs:
        if output.output_type == "display_data" and "image/svg+xml" in output.data:
            texts = [element.text or "" for element in ET.fromstring(output.data["image/svg+xml"]).iter(f"{SVG}text")]
            steps.append(max((int(text) for text in texts if text.isdecimal()), default=-1))
    return steps


THREADS = "print([thread.name for thread in threading.enumerate() if thread.name.startswith('strobe')])"
#: logs once more every time the picture should have been drawn again
TRAIN = """
for step in range(8):
    run.log({'loss': 1 / (1 + step)}, step=step)
    time.sleep(0.4)
"""


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.usefixtures("kernel_environment")
@pytest.mark.filterwarnings("ignore")  # what zmq and asyncio say of each other is not ours
def test_a_shown_run_follows_what_is_logged_and_ends_with_it(home: Home) -> None:
    notebook = notebook_of(
        f"import strobe, threading, time\nrun = strobe.init(project='p', name='live')\n{THREADS}\nrun",
        TRAIN + THREADS,
    )
    said = run_cells(home, notebook, [0, 1])
    first = notebook.cells[0]
    assert said[0].strip() == "[]", "no thread before it is shown"
    assert said[1].strip() == "['strobe-notebook']"
    assert 3 <= shown_steps(first)[0] <= 7, "the first cell's output was replaced while the second one ran"
    (output,) = [output for output in first.outputs if output.output_type == "display_data"]
    assert "data:image/svg+xml;base64," in output.data["text/html"]
    assert "live running" in output.data["text/plain"]
    assert "<script" not in output.data["text/html"]


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.usefixtures("kernel_environment")
@pytest.mark.filterwarnings("ignore")
def test_every_cell_that_shows_a_run_shows_how_it_ended(home: Home) -> None:
    notebook = notebook_of(
        f"import strobe, threading\nrun = strobe.init(project='p', name='live')\n{THREADS}",
        "run.log({'loss': 1.0}, step=7)\nrun",
        "run",
        f"run.log({{'loss': 0.0}}, step=100)\nrun.finish()\n{THREADS}",
        "run",
    )
    said = run_cells(home, notebook, [0, 1, 2, 0, 3, 4])
    assert said[3].strip() == "[]", "the cell that ran again ended the view with its run"
    assert said[4].strip() == "[]"
    for cell in notebook.cells[1:3]:
        assert shown_steps(cell) == [7]
        assert "live: finished" in cell.outputs[-1].data["image/svg+xml"]
    assert shown_steps(notebook.cells[4]) == [100]


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.usefixtures("kernel_environment")
@pytest.mark.filterwarnings("ignore")
def test_a_kernel_that_is_shut_down_while_it_follows_says_nothing(home: Home) -> None:
    notebook = notebook_of(
        "import strobe, os\nrun = strobe.init(project='p')\nrun.log({'x': 1})\nrun",
        "import sys, time\nfor _ in range(20):\n    run.log({'x': 2})\n    time.sleep(0.1)\nprint(os.getpid())",
    )
    run_cells(home, notebook, [0, 1])
    (run_dir,) = home.iter_runs()
    assert len(column(replay_of(run_dir), "x")) == 21


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.usefixtures("kernel_environment")
@pytest.mark.filterwarnings("ignore")
def test_a_run_that_was_read_shows_itself_in_a_real_kernel(home: Home) -> None:
    with strobe.init(project="p", name="done") as run:
        for step in range(5):
            run.log({"val/loss": 1 / (1 + step)})
    notebook = notebook_of("import strobe\nstrobe.Api().run('latest')")
    run_cells(home, notebook, [0])
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "execute_result"
    assert "done: finished" in output.data["image/svg+xml"]
    assert output.data["text/plain"].startswith("<Run local/p/")
    assert "data:image/svg+xml;base64," in output.data["text/html"]


# -- a view without a kernel


def test_a_view_that_fails_is_a_warning(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from strobe.sdk import notebook as module

    shown: list[Any] = []
    fake = ModuleType("IPython.display")

    def fail(*args: Any, **keywords: Any) -> None:
        raise OSError("the kernel is gone")

    fake.display = lambda *args, **keywords: shown.append(keywords)  # type: ignore[attr-defined]
    fake.update_display = fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setattr(module, "in_notebook", lambda: True)
    monkeypatch.setattr(module, "_EVERY_S", 0.01)
    warned: list[str] = []
    run = strobe.init(project="p")
    monkeypatch.setattr(type(run._recorder), "warn", lambda self, message: warned.append(message))
    run._ipython_display_()
    run.log({"x": 1})
    thread = run._notebook_view._thread
    assert thread is not None
    thread.join(10)
    assert not thread.is_alive()
    run.finish()
    assert shown[0]["display_id"].startswith(f"strobe-{run.id}-")
    assert any("the kernel is gone" in message for message in warned)
