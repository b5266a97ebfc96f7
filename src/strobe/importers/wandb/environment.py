"""Where a wandb run ran, in Strobe's words (docs/environment.md): from its environment records, or, of older clients,
from `wandb-metadata.json`; and from the files that wandb puts beside: requirements.txt, diff.patch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from strobe.environment.facts import join_command
from strobe.importers.protobuf import Message
from strobe.importers.wandb.fields import Environment, Git

#: a longer file stays a file only
_MAX_BYTES = 1 << 20


def from_record(record: Message) -> dict[str, Any]:
    """Return the attributes that an environment record has."""
    git, cpu, memory = (record.message(number) for number in (Environment.GIT, Environment.CPU, Environment.MEMORY))
    gpus = [
        {"name": gpu.text(Environment.GPU_NAME), "memory_bytes": gpu.integer(Environment.GPU_MEMORY)}
        | ({"uuid": gpu.text(Environment.GPU_UUID)} if Environment.GPU_UUID in gpu else {})
        for gpu in record.messages(Environment.GPU_NVIDIA)
    ]
    return _attributes(
        os=record.text(Environment.OS),
        python=record.text(Environment.PYTHON),
        args=record.texts(Environment.ARGS),
        program=record.text(Environment.PROGRAM),
        executable=record.text(Environment.EXECUTABLE),
        host=record.text(Environment.HOST),
        user=record.text(Environment.USER),
        email=record.text(Environment.EMAIL),
        cwd=record.text(Environment.ROOT),
        git_commit=git.text(Git.COMMIT) if git else "",
        git_remote=git.text(Git.REMOTE) if git else "",
        cpu_count=record.integer(Environment.CPU_LOGICAL),
        cpu_model=cpu.text(Environment.CPU_MODEL) if cpu else "",
        memory_total_bytes=memory.integer(1) if memory else 0,
        disk_total_bytes=_root_disk(record),
        gpus=gpus,
        cuda_version=record.text(Environment.CUDA),
        slurm={entry.text(1): entry.text(2) for entry in record.messages(Environment.SLURM)},
    )


def from_files(directory: Path) -> dict[str, Any]:
    """Return what the files of a run say about where it ran; what is not there, or no such file, is left out."""
    found = _from_metadata(directory / "wandb-metadata.json")
    if text := _read(directory / "requirements.txt"):
        found["requirements"] = text.splitlines()
    if diff := _read(directory / "diff.patch"):
        found |= {"git_diff": diff, "git_dirty": True, "git_diff_cut": False}
    return found


def _from_metadata(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(_read(path))
    except ValueError:
        return {}
    if not isinstance(facts, dict):
        return {}
    git, memory, disk = (_inner(facts, name) for name in ("git", "memory", "disk"))
    return _attributes(
        os=facts.get("os"),
        python=facts.get("python"),
        args=facts.get("args"),
        program=facts.get("program"),
        executable=facts.get("executable"),
        host=facts.get("host"),
        user=facts.get("username"),
        email=facts.get("email"),
        cwd=facts.get("root"),
        git_commit=git.get("commit"),
        git_remote=git.get("remote"),
        cpu_count=facts.get("cpu_count_logical") or facts.get("cpu_count"),
        memory_total_bytes=_number(memory.get("total")),
        disk_total_bytes=_number(_inner(disk, "/").get("total")),
        gpus=facts.get("gpu_nvidia"),
        cuda_version=facts.get("cudaVersion"),
        slurm=facts.get("slurm"),
    )


def _attributes(*, python: Any, args: Any, slurm: Any, **facts: Any) -> dict[str, Any]:
    """Return the facts that are known, in the form that Strobe has for them."""
    words = str(python or "").split()
    if words:
        facts["python"] = words[-1]
        if len(words) > 1:
            facts["python_implementation"] = words[0].lower()
    if args:
        facts["args"] = list(args)
        facts["command"] = join_command([str(facts.get("program") or ""), *map(str, args)])
    if isinstance(slurm, dict) and slurm:
        facts["batch"] = {"kind": "slurm", **slurm}
    return {name: fact for name, fact in facts.items() if fact}


def _root_disk(record: Message) -> int:
    for entry in record.messages(Environment.DISK):
        if entry.text(1) == "/" and (disk := entry.message(2)) is not None:
            return disk.integer(1)
    return 0


def _inner(facts: dict[str, Any], name: str) -> dict[str, Any]:
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def _number(text: Any) -> int:
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # most runs have only some of these files
        return ""
