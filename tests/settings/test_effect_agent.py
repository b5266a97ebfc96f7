"""Settings about the agent and what it finds out: system figures, environment, git. Its duties are done right here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.agent.describer import Describer
from strobe.agent.entry import ActiveEntries
from strobe.agent.sampler import Sampler
from strobe.home import Home
from tests.agent.scene import QuietLog
from tests.agent.test_gpu import FakeNvml

from .effect import AgentHere, Start, git, replay_of, shows, system_rows


def sampled(home: Home, run: strobe.Run, *times: float) -> list[dict[str, Any]]:
    """Return the rows of system figures after polling at these seconds."""
    agent = AgentHere(home, Sampler(log=lambda message: None, load_gpu=FakeNvml))
    for now in times:
        agent.poll(now)
    rows = system_rows(run)
    agent.close()
    return rows


def described(home: Home, run: strobe.Run) -> dict[str, Any]:
    """Return the run's attributes after the agent has described it."""
    agent = AgentHere(home, Describer([], lambda writers: None, QuietLog()))
    agent.poll_until_done()
    agent.close()
    return replay_of(run).attributes


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, two remotes and a change."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    (root / "train.py").write_text("lr = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    git(root, "remote", "add", "origin", "https://host/origin.git")
    git(root, "remote", "add", "upstream", "https://host/upstream.git")
    (root / "train.py").write_text("lr = 2\n")
    return root


@pytest.fixture
def inside(repo: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository as the working directory."""
    monkeypatch.chdir(repo)
    return repo


@shows("agent")
def test_agent(start: Start, home: Home, agent_asked: list[Home]) -> None:
    start(agent=False)
    assert (agent_asked, home.active.exists()) == ([], False)
    start(agent=True)
    assert (agent_asked, len(list(home.active.iterdir()))) == ([home], 1)


@shows("stats")
def test_stats(start: Start, home: Home, agent_asked: list[Home]) -> None:
    run = start(stats=False)
    assert sampled(home, run, 0.0, 2.0) == []
    run.finish()
    (row,) = sampled(home, start(stats=True), 0.0, 2.0)
    assert "system.memory_percent" in row


@shows("stats_interval_s")
def test_stats_interval_s(start: Start, home: Home, agent_asked: list[Home]) -> None:
    assert len(sampled(home, start(stats_interval_s=2), 0.0, 1.0, 2.0, 3.0, 4.0, 5.0)) == 3


@shows("stats_gpu_ids")
def test_stats_gpu_ids(start: Start, home: Home, agent_asked: list[Home]) -> None:
    (row,) = sampled(home, start(stats_gpu_ids=[1]), 0.0, 2.0)
    assert "system.gpu.1.gpu" in row
    assert "system.gpu.0.gpu" not in row


@shows("stats_disk_paths")
def test_stats_disk_paths(start: Start, home: Home, agent_asked: list[Home], tmp_path: Path) -> None:
    (row,) = sampled(home, start(stats_disk_paths=[str(tmp_path)]), 0.0, 2.0)
    assert f"system.disk.{tmp_path}.usagePercent" in row


@shows("describe")
def test_describe(start: Start, home: Home, agent_asked: list[Home], inside: Path) -> None:
    run = start(describe=False, machine_info=False, save_requirements=False)
    assert {"command", "git_commit", "git_diff", "host"}.isdisjoint(described(home, run))
    run.finish()
    run = start(describe=True, machine_info=False, save_requirements=False)
    assert {"command", "git_commit", "git_diff", "host"} <= described(home, run).keys()


@shows("machine_info")
def test_machine_info(start: Start, home: Home, agent_asked: list[Home]) -> None:
    facts = {"cpu_count", "memory_total_bytes", "kernel"}
    for is_on in (False, True):
        run = start(machine_info=is_on, save_requirements=False, disable_git=True)
        assert described(home, run).keys() & facts == (facts if is_on else set())
        run.finish()


@shows("save_requirements")
def test_save_requirements(start: Start, home: Home, agent_asked: list[Home], monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path.cwd() / "thing-1.5.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.5\n")
    monkeypatch.setattr(sys, "path", [str(Path.cwd())])
    for is_on, expected in ((False, None), (True, ["thing==1.5"])):
        run = start(save_requirements=is_on, machine_info=False, disable_git=True)
        assert described(home, run).get("requirements") == expected
        run.finish()


@shows("disable_git")
def test_disable_git(start: Start, home: Home, agent_asked: list[Home], inside: Path) -> None:
    run = start(disable_git=True, machine_info=False, save_requirements=False)
    assert [name for name in described(home, run) if name.startswith("git")] == []


@shows("git_root")
def test_git_root(start: Start, home: Home, agent_asked: list[Home], repo: Path) -> None:
    run = start(git_root=repo, machine_info=False, save_requirements=False)
    assert replay_of(run).attributes["git_commit"] == git(repo, "rev-parse", "HEAD")
    found = described(home, run)
    assert (found["git_root"], found["git_branch"]) == (str(repo), "main")
    assert "+lr = 2" in found["git_diff"]


@shows("git_remote")
@pytest.mark.parametrize(
    ("remote", "url"), [(None, "https://host/origin.git"), ("upstream", "https://host/upstream.git"), ("none", None)]
)
def test_git_remote(
    start: Start, home: Home, agent_asked: list[Home], inside: Path, remote: str | None, url: str | None
) -> None:
    run = start(git_remote=remote, machine_info=False, save_requirements=False)
    assert described(home, run).get("git_remote") == url


@shows("git_commit", "git_remote_url")
def test_what_is_given_is_not_replaced_by_what_is_found(
    start: Start, home: Home, agent_asked: list[Home], inside: Path
) -> None:
    run = start(git_commit="abc123", git_remote_url="https://h/x", machine_info=False, save_requirements=False)
    found = described(home, run)
    assert (found["git_commit"], found["git_remote"]) == ("abc123", "https://h/x")
    assert found["git_branch"] == "main"


def test_a_resumed_run_records_the_commit_that_it_runs_now(start: Start, inside: Path) -> None:
    start(run_id="a").finish()
    git(inside, "commit", "-qam", "second")
    run = start(run_id="a", resume="must")
    assert replay_of(run).attributes["git_commit"] == git(inside, "rev-parse", "HEAD")


def test_odd_paths_and_arguments_do_not_stop_the_start(
    start: Start, home: Home, agent_asked: list[Home], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])
    monkeypatch.setattr(sys, "argv", ["train.py", "caf\udce9", 5])
    start()
    (entry,) = ActiveEntries(home.active, owner=os.getuid()).scan().values()
    assert entry.argv == ["train.py", "caf\\udce9", "5"]
    assert str(tmp_path) in entry.sys_path
