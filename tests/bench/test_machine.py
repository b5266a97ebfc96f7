"""Whether the code that is measured is that of its commit, and what a machine is known by."""

from __future__ import annotations

import subprocess
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from strobe.agent import cgroup
from strobe.bench import machine


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True, capture_output=True
        )

    git("init", "--quiet")
    (tmp_path / "product.py").write_text("COST_S = 1\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return tmp_path


def _is_dirty(repository: Path) -> bool:
    found = machine.describe(source=repository / "product.py")
    assert len(found.git_commit) == 40
    return found.is_dirty


def test_a_changed_file_is_not_its_commit(repository: Path) -> None:
    assert not _is_dirty(repository)
    (repository / "product.py").write_text("COST_S = 2\n")
    assert _is_dirty(repository)


@pytest.mark.parametrize("name", ["faster.py", f"a package/kernel{EXTENSION_SUFFIXES[0]}"])
def test_a_new_file_that_can_be_imported_is_not_in_the_commit(repository: Path, name: str) -> None:
    path = repository / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert _is_dirty(repository)


def test_results_and_what_is_ignored_leave_the_code_as_it_is(repository: Path) -> None:
    """`strobe bench run --results main.jsonl` in a repository is what the docs show for CI."""
    (repository / "main.jsonl").write_text("{}\n")
    for name in ("build/made.py", "__pycache__/product.cpython-310.pyc"):
        path = repository / name
        path.parent.mkdir()
        path.write_text("")
    assert not _is_dirty(repository)


def test_code_that_git_cannot_tell_of_does_not_count_as_committed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = repository / ".git" / "index"
    index.write_bytes(b"broken")
    assert _is_dirty(repository)
    monkeypatch.setenv("PATH", "")  # no git at all
    assert _is_dirty(repository)


@pytest.mark.parametrize(
    ("quota", "cpus", "fact"),
    [(None, 8, None), (8.0, 8, None), (16.0, 8, None), (2.0, 2, "2"), (1.5, 2, "1.5"), (0.25, 1, "0.25")],
)
def test_a_container_has_the_cpus_that_its_quota_allows(
    quota: float | None, cpus: int, fact: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_allowed_cpus", lambda: 8)
    monkeypatch.setattr(cgroup, "cpu_quota", lambda pid: quota)
    assert machine.usable_cpus() == cpus
    found = machine.describe()
    assert found.cpu_count == cpus
    assert found.hardware["cpus"] == str(cpus)
    assert found.hardware.get("cpu_quota") == fact


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version: 12",
            "535.183.01",
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (dvs@)  Tue\n",
            "550.54.15",
        ),
        ("something else", None),
        (None, None),
    ],
)
def test_the_cards_driver_is_named(tmp_path: Path, text: str | None, found: str | None) -> None:
    path = tmp_path / "version"
    if text is not None:
        path.write_text(text)
    assert machine._driver(path).get("nvidia_driver") == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, {}),
        (
            {
                "devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
                "devices/system/cpu/intel_pstate/no_turbo": "1\n",
                "kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            },
            {"cpu_governor": "powersave", "turbo": "off", "transparent_hugepage": "madvise"},
        ),
        ({"devices/system/cpu/intel_pstate/no_turbo": "0\n"}, {"turbo": "on"}),
        ({"devices/system/cpu/cpufreq/boost": "1\n"}, {"turbo": "on"}),
        ({"devices/system/cpu/cpufreq/boost": "0\n"}, {"turbo": "off"}),
        ({"kernel/mm/transparent_hugepage/enabled": "what?\n"}, {}),
    ],
)
def test_how_the_system_drives_the_machine_is_named(
    tmp_path: Path, files: dict[str, str], found: dict[str, str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert machine._tuning(tmp_path) == found


def test_it_is_the_same_machine_however_it_is_driven(monkeypatch: pytest.MonkeyPatch) -> None:
    prints = set()
    for governor in ("powersave", "performance"):
        monkeypatch.setattr(machine, "_tuning", lambda governor=governor: {"cpu_governor": governor})
        found = machine.describe()
        assert found.software["cpu_governor"] == governor
        prints.add((found.fingerprint, found.softprint))
    assert len({hardware for hardware, _ in prints}) == 1
    assert len(prints) == 2
