"""The environment of a run: what ran, on what, from which code. docs/environment.md lists every key.

`quick` is for `init()`: well under a millisecond, no processes, no imports beyond os and sys. `describe` is for the
agent or a side thread: it may run git and nvidia-smi, each with a timeout. Neither raises for a fault of the
environment; `describe` says under "problems" what it could not find out. Credentials are redacted here, unless the
caller says otherwise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from strobe._version import __version__
from strobe.environment.redact import redact_argv
from strobe.environment.repository import find_repository

DEFAULT_REMOTE = "origin"

#: (kind, variable that says so, further variables worth keeping)
_BATCH = (
    ("slurm", "SLURM_JOB_ID", ("SLURM_JOB_NAME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_PARTITION")),
    ("pbs", "PBS_JOBID", ("PBS_JOBNAME", "PBS_QUEUE")),
    ("lsf", "LSB_JOBID", ("LSB_JOBNAME", "LSB_QUEUE")),
    ("sge", "JOB_ID", ("JOB_NAME", "QUEUE")),
    ("aws-batch", "AWS_BATCH_JOB_ID", ("AWS_BATCH_JQ_NAME",)),
    ("sagemaker", "TRAINING_JOB_NAME", ("TRAINING_JOB_ARN",)),
    ("github-actions", "GITHUB_RUN_ID", ("GITHUB_WORKFLOW", "GITHUB_RUN_ATTEMPT")),
    ("gitlab-ci", "CI_JOB_ID", ("CI_JOB_NAME", "CI_PIPELINE_ID")),
    ("kaggle", "KAGGLE_KERNEL_RUN_TYPE", ()),
    ("colab", "COLAB_RELEASE_TAG", ()),
)


def quick(
    cwd: str | os.PathLike[str],
    argv: Sequence[str] | None = None,
    *,
    git: bool = True,
    git_root: str | os.PathLike[str] | None = None,
    machine: bool = True,
    redact: bool = True,
) -> dict[str, Any]:
    """Return what can be told at once. `argv` is the command line; without it, this process's own.

    git is looked for from `git_root` upwards, without it from `cwd`.
    """
    cwd = os.fspath(cwd)
    clean = redact_argv if redact else list
    command = list(_typed() if argv is None else argv)
    facts: dict[str, Any] = {
        "program": _program(),
        "command": join_command(clean(command)),
        "args": clean(sys.argv[1:] if argv is None else command[1:]),
        "cwd": cwd,
        "pid": os.getpid(),
        "host": hostname(),
        "os": os_name(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "python_implementation": sys.implementation.name,
        "executable": sys.executable or None,
        "cpu_count": os.cpu_count() if machine else None,
        "cpu_usable": usable_cpus() if machine else None,
        "user": _user(),
        "strobe_version": __version__,
        "container": _container(),
        "batch": _batch(os.environ),
    }
    if git:
        repository = find_repository(os.fspath(git_root or cwd))
        if repository is not None:
            commit, branch = repository.head()
            facts |= {"git_commit": commit, "git_branch": branch, "git_root": repository.root}
    return {key: _text(fact) if type(fact) is str else fact for key, fact in facts.items() if fact is not None}


def describe(
    cwd: str | os.PathLike[str],
    argv: Sequence[str],
    sys_path: Sequence[str],
    *,
    timeout_s: float = 10.0,
    git: bool = True,
    git_root: str | os.PathLike[str] | None = None,
    git_remote: str = DEFAULT_REMOTE,
    diff: bool = True,
    requirements: bool = True,
    machine: bool = True,
    redact: bool = True,
) -> dict[str, Any]:
    """Return the facts that take time, and "problems": what could not be found out, and why.

    `argv` and `sys_path` are the described process's, which need not be this one. The diff is code, so it can be left
    out.
    """
    from time import monotonic

    from strobe.environment import difference, machinery, packages

    cwd = os.fspath(cwd)
    deadline = monotonic() + timeout_s
    facts: dict[str, Any] = {"args": list(redact_argv(list(argv[1:])) if redact else argv[1:])}
    problems: list[str] = []
    if git:
        place = os.fspath(git_root or cwd)
        facts |= difference.describe_git(place, problems, deadline, remote=git_remote, diff=diff, redact=redact)
    if requirements:
        facts |= packages.describe_packages(cwd, sys_path, problems)
    if machine:
        facts |= machinery.describe_machine(cwd, problems, deadline)
    return {**{key: fact for key, fact in facts.items() if fact is not None}, "problems": problems}


def join_command(argv: Sequence[str]) -> str:
    """Return a command line that a shell would read back as `argv`."""
    return " ".join(map(_quote, argv))


def hostname() -> str:
    return os.uname().nodename if sys.platform != "win32" else os.environ.get("COMPUTERNAME", "")


def os_name() -> str:
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        return f"Windows-{version.major}.{version.minor}.{version.build}"
    system = os.uname()
    return f"{system.sysname}-{system.release}-{system.machine}"


def usable_cpus() -> int | None:
    """Return how many CPUs this process may use, which in a container or batch job is fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _typed() -> list[str]:
    """Return the command line of this process, or of the program that had multiprocessing start it anew.

    Such a process has one that starts nothing a second time; the program's arguments are in its `sys.argv`.
    """
    if not any(word.startswith("from multiprocessing.") for word in sys.orig_argv):
        return sys.orig_argv
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    program = sys.argv[:1] if spec is None else ["-m", spec.name.removesuffix(".__main__")]
    return [sys.executable, *program, *sys.argv[1:]]


def _program() -> str | None:
    main = sys.modules.get("__main__")
    return getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else None) or None


def _user() -> str | None:
    # Not pwd: where users come from a directory service, a lookup may take seconds.
    for name in ("USER", "LOGNAME", "USERNAME"):
        if user := os.environ.get(name):
            return user
    if not hasattr(os, "getuid"):
        return None
    uid = os.getuid()
    return "root" if uid == 0 else str(uid)  # in containers nothing says who one is, and most often it is root


def _container() -> str | None:
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if os.path.exists("/.dockerenv"):
        return "docker"
    if os.path.exists("/run/.containerenv"):
        return "podman"
    if os.environ.get("APPTAINER_CONTAINER") or os.environ.get("SINGULARITY_CONTAINER"):
        return "apptainer"
    return os.environ.get("container") or None  # noqa: SIM112 - systemd's and podman's name for it is in lower case


def _batch(environ: Mapping[str, str]) -> dict[str, str] | None:
    for kind, variable, others in _BATCH:
        if variable in environ:
            found = {name.lower(): environ[name] for name in others if environ.get(name)}
            return {"kind": kind, "job_id": environ[variable], **found}
    return None


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_[]")


def _quote(word: str) -> str:
    if word and _SAFE.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _text(fact: str) -> str:
    """File names that are no UTF-8 come as lone surrogates, which cannot be written."""
    return fact if fact.isascii() else fact.encode("utf-8", "backslashreplace").decode()
