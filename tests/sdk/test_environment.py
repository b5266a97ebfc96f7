"""Facts about where a run happens: the quick ones against real git, the slow ones with everything missing."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strobe.environment import difference, machinery
from strobe.environment import facts as environment
from strobe.environment.execute import Failed, execute
from strobe.environment.facts import describe, join_command, quick
from strobe.environment.redact import REDACTED
from strobe.environment.repository import find_repository

SECRET = "hunter2hunter2"


def git(cwd: Path, *arguments: str) -> str:
    identity = (
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "commit.gpgsign=false",
    )
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def _no_git_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit of one file."""
    root = tmp_path / "repo"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q")
    (root / "train.py").write_text("lr = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


# -- quick -----------------------------------------------------------------------------------------------------------


def test_quick_facts(tmp_path: Path) -> None:
    facts = quick(tmp_path, ["python", "train.py", "--api-key", SECRET, "--name", "a b"])
    assert facts["command"] == f"python train.py --api-key '{REDACTED}' --name 'a b'".replace(
        "'[redacted]'", "[redacted]"
    )
    assert facts["args"] == ["train.py", "--api-key", REDACTED, "--name", "a b"]
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["pid"] == os.getpid()
    assert facts["cpu_count"] == os.cpu_count()
    assert {"host", "os", "executable", "strobe_version", "user", "program", "cwd"} <= set(facts)
    assert "git_commit" not in facts
    assert None not in facts.values()


def test_quick_of_this_process(tmp_path: Path) -> None:
    facts = quick(tmp_path)
    assert facts["args"] == sys.argv[1:]
    assert facts["command"] == join_command(sys.orig_argv)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.parametrize("program", [["started.py"], ["-m", "started"]])
def test_a_process_of_multiprocessing_has_the_command_of_its_program(
    tmp_path: Path, method: str, program: list[str]
) -> None:
    (tmp_path / "started.py").write_text(
        "import multiprocessing\nfrom strobe.environment.facts import quick\n"
        "def tell():\n    print(quick('.')['command'])\n"
        "if __name__ == '__main__':\n"
        f"    process = multiprocessing.get_context({method!r}).Process(target=tell)\n"
        "    process.start()\n    process.join()\n"
    )
    command = [sys.executable, *program, "--lr", "0.1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == join_command(command)


def test_commit_and_branch(repo: Path) -> None:
    facts = quick(repo / "sub")
    assert facts["git_commit"] == git(repo, "rev-parse", "HEAD")
    assert facts["git_branch"] == "main"
    assert facts["git_root"] == str(repo)
    assert "git_commit" not in quick(repo, git=False)


def test_branch_with_slashes_packed(repo: Path) -> None:
    git(repo, "checkout", "-qb", "feature/deep/name")
    git(repo, "pack-refs", "--all")
    assert not (repo / ".git/refs/heads/feature").exists()
    facts = quick(repo)
    assert (facts["git_commit"], facts["git_branch"]) == (git(repo, "rev-parse", "HEAD"), "feature/deep/name")


def test_detached_head(repo: Path) -> None:
    git(repo, "checkout", "-q", "--detach")
    facts = quick(repo)
    assert facts["git_commit"] == git(repo, "rev-parse", "HEAD")
    assert "git_branch" not in facts


def test_worktree(repo: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "-qb", "other", str(tree))
    (tree / "new.txt").write_text("x")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "second")
    facts = quick(tree)
    assert (facts["git_commit"], facts["git_branch"]) == (git(tree, "rev-parse", "HEAD"), "other")
    assert facts["git_root"] == str(tree)
    assert facts["git_commit"] != quick(repo)["git_commit"]


def test_submodule(repo: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo), "inner")
    assert (outer / "inner/.git").is_file()
    assert quick(outer / "inner")["git_commit"] == git(repo, "rev-parse", "HEAD")


def test_no_commit_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    facts = quick(tmp_path)
    assert facts["git_branch"] == "main"
    assert "git_commit" not in facts


def test_git_dir_variable(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    assert quick(elsewhere)["git_commit"] == git(repo, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert "git_commit" not in quick(elsewhere)


@pytest.mark.parametrize("content", ["", "garbage", "gitdir: /nowhere", "ref: refs/heads/" + "x" * 5000, "\0\xff"])
def test_broken_repositories_are_no_repository(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content, encoding="latin-1")
    assert "git_commit" not in quick(tmp_path)
    (tmp_path / ".git").unlink()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text(content, encoding="latin-1")
    assert "git_commit" not in quick(tmp_path)


def test_refs_that_lead_in_circles(tmp_path: Path) -> None:
    (tmp_path / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/a")
    (tmp_path / ".git/refs/heads/a").write_text("ref: refs/heads/a")
    repository = find_repository(str(tmp_path))
    assert repository is not None
    assert repository.head() == (None, "a")


def test_a_directory_that_is_gone(tmp_path: Path) -> None:
    assert "git_commit" not in quick(tmp_path / "gone")


def test_batch_jobs_and_containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable, _ in environment._BATCH:
        monkeypatch.delenv(variable, raising=False)
    assert "batch" not in quick(tmp_path)
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    assert quick(tmp_path)["batch"] == {"kind": "slurm", "job_id": "17", "slurm_array_task_id": "3"}
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert quick(tmp_path)["container"] == "kubernetes"


def test_without_user_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert quick(tmp_path)["user"] == "1000"
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert quick(tmp_path)["user"] == "root"


def test_names_that_are_no_utf8_can_be_written(tmp_path: Path) -> None:
    facts = quick(tmp_path, ["python", "caf\udce9.py"])
    assert facts["command"].encode() == b"python 'caf\\udce9.py'"


def test_commands_read_back_by_a_shell() -> None:
    argv = ["a b", "it's", "", "plain", "$HOME", "x;y", "é"]
    done = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {join_command(argv)}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:-1] == argv


def test_quick_loads_nothing_heavy() -> None:
    # What msgspec loads itself differs between versions of Python.
    code = (
        "import sys, msgspec; before = set(sys.modules); import strobe.environment.facts as e; e.quick('.'); "
        "print(*(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {
        "subprocess",
        "socket",
        "shlex",
        "strobe.environment.credential",
        "importlib.metadata",
    } & set(loaded)


# -- describe --------------------------------------------------------------------------------------------------------


def test_describe_a_changed_tree(repo: Path) -> None:
    git(repo, "remote", "add", "upstream", "https://example.com/up.git")
    git(repo, "remote", "add", "origin", f"https://me:{SECRET}@example.com/x.git")
    (repo / "train.py").write_text(f'lr = 2\napi_key = "{SECRET}"\n')
    (repo / "sub/new file.txt").write_text("x")
    facts = describe(repo / "sub", ["train.py", "--token", "x"], [])
    assert facts["problems"] == []
    assert facts["git_remote"] == f"https://{REDACTED}@example.com/x.git"
    assert facts["git_dirty"] is True
    assert "+lr = 2" in facts["git_diff"]
    assert SECRET not in str(facts)
    assert facts["git_diff_cut"] is False
    assert facts["git_untracked"] == ["new file.txt"]
    assert facts["git_commit"] == git(repo, "rev-parse", "HEAD")


def test_describe_a_clean_tree_without_remote(repo: Path) -> None:
    facts = describe(repo, [], [])
    assert (facts["git_dirty"], facts["git_untracked"]) == (False, [])
    assert "git_diff" not in facts
    assert "git_remote" not in facts
    assert facts["problems"] == []


def test_staged_changes_count(repo: Path) -> None:
    (repo / "train.py").write_text("lr = 3\n")
    git(repo, "add", ".")
    assert "+lr = 3" in describe(repo, [], [])["git_diff"]


def test_no_commit_yet_is_described(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("x")
    facts = describe(tmp_path, [], [])
    assert facts["git_untracked"] == ["a"]
    assert "git_commit" not in facts
    assert facts["problems"] == []


def test_a_long_diff_is_cut_and_says_so(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "MAX_DIFF_BYTES", 1000)
    monkeypatch.setattr(difference, "MAX_UNTRACKED", 3)
    (repo / "train.py").write_text("".join(f"line {n}\n" for n in range(1000)))
    for number in range(5):
        (repo / f"file{number}").write_text("")
    facts = describe(repo, [], [])
    assert len(facts["git_diff"].encode()) <= 1000
    assert facts["git_diff_cut"] is True
    assert (len(facts["git_untracked"]), facts["git_untracked_count"], facts["git_untracked_cut"]) == (3, 5, True)


def test_without_git_it_says_so(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = describe(repo, [], [])
    assert any("git" in problem and "No such file" in problem for problem in facts["problems"])
    assert len(facts["git_commit"]) == 40  # read without git


def test_outside_a_repository(tmp_path: Path) -> None:
    facts = describe(tmp_path, [], [])
    assert not [key for key in facts if key.startswith("git")]
    assert facts["problems"] == []


def test_a_git_that_hangs(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    began = time.monotonic()
    facts = describe(repo, [], [], timeout_s=0.2, machine=False)
    assert time.monotonic() - began < 5
    assert "took longer" in facts["problems"][0]
    assert all("no time left" in problem for problem in facts["problems"][1:])


def test_a_git_that_refuses(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'fatal: detected dubious ownership in repository' >&2\nexit 128\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    problems = describe(repo, [], [], machine=False)["problems"]
    assert "git diff: fatal: detected dubious ownership in repository" in problems


def test_requirements_along_the_path_of_the_described_process(tmp_path: Path) -> None:
    def install(directory: Path, name: str, metadata: str) -> None:
        info = directory / f"{name}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(metadata)

    first, second = tmp_path / "first", tmp_path / "second"
    install(first, "Alpha-2.0", "Name: Alpha\nVersion: 2.0\n")
    install(second, "alpha-1.0", "Name: alpha\nVersion: 1.0\n")
    install(second, "beta_b-1.5", "Name: beta_b\nVersion: 1.5\n")
    install(second, "broken-0", "Summary: neither name nor version\n")
    facts = describe(tmp_path, [], ["first", str(second), str(tmp_path / "missing")], machine=False)
    assert facts["requirements"] == ["Alpha==2.0", "beta_b==1.5"]
    assert facts["problems"] == ["packages: 1 without a readable name and version"]


def test_own_requirements(tmp_path: Path) -> None:
    found = describe(tmp_path, [], sys.path, machine=False)["requirements"]
    assert f"pytest=={pytest.__version__}" in found


def test_parts_can_be_left_out(repo: Path) -> None:
    facts = describe(repo, ["x", "y"], sys.path, git=False, requirements=False, machine=False)
    assert facts == {"args": ["y"], "problems": []}


def test_machine_facts(tmp_path: Path) -> None:
    facts = describe(tmp_path, [], [], git=False, requirements=False)
    assert facts["memory_total_bytes"] > 1 << 20
    assert facts["disk_total_bytes"] > 0
    assert facts["kernel"].startswith(os.uname().sysname)


def fake_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(machinery, "_ask_nvml", lambda problems: None)


def test_gpus_by_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_smi(
        tmp_path,
        monkeypatch,
        'case "$1" in --query*) echo "NVIDIA A100-SXM4-80GB, 81920, GPU-1, 550.54";;'
        ' *) echo "| NVIDIA-SMI 550.54  CUDA Version: 12.4  |";; esac',
    )
    facts = describe(tmp_path, [], [], git=False, requirements=False)
    assert facts["gpus"] == [{"name": "NVIDIA A100-SXM4-80GB", "memory_bytes": 81920 << 20, "uuid": "GPU-1"}]
    assert (facts["gpu_driver"], facts["cuda_version"]) == ("550.54", "12.4")


def test_an_nvidia_smi_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_smi(tmp_path, monkeypatch, "echo 'no devices were found' >&2; exit 6")
    facts = describe(tmp_path, [], [], git=False, requirements=False)
    assert "gpus" not in facts
    assert facts["problems"] == ["nvidia-smi: no devices were found"]


def test_execute_stops_what_writes_too_much() -> None:
    output = execute(["sh", "-c", "yes"], cwd="/", deadline=time.monotonic() + 20, max_bytes=1000)
    assert (len(output.content), output.is_cut) == (1000, True)


def test_execute_ends_grandchildren_too() -> None:
    began = time.monotonic()
    with pytest.raises(Failed, match="took longer"):
        execute(["sh", "-c", "sleep 60 & sleep 60"], cwd="/", deadline=time.monotonic() + 0.2)
    assert time.monotonic() - began < 5
