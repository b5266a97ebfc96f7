"""Experts on disk: one safetensors file each, with parameters and optimizer state, replaced only by a whole one.

A reader finds the last complete file or none, whatever was killed when. Files are read with the same suspicion as
messages: nothing in them is executed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Final

import torch

from strobe.errors import Error
from strobe.swarm.experts.backend import ExpertBackend
from strobe.swarm.experts.uid import ExpertUid, is_uid
from strobe.swarm.tensors import Bounds, MalformedTensors, decode, encode

_SUFFIX: Final = ".safetensors"
_MODULE: Final = "module."
_OPTIMIZER: Final = "optimizer."
_BOUNDS: Final = Bounds(max_bytes=1 << 40, max_header_bytes=64 << 20, max_tensors=1 << 20)


class CheckpointUnusable(Error):
    """A file does not hold the state of this expert."""


class CheckpointUnsaved(Error):
    """The state of some experts could not be written."""


def stored_uids(directory: Path) -> list[ExpertUid]:
    """Return the experts that have a file here."""
    if not directory.is_dir():
        return []
    names = (path.name[: -len(_SUFFIX)] for path in directory.glob(f"*{_SUFFIX}"))
    return sorted(ExpertUid(name) for name in names if is_uid(name))


def remove_drafts(directory: Path, uids: Collection[str]) -> None:
    """Delete what was left of these experts by saves that were killed. Others may be writing theirs just now."""
    for path in directory.glob(f".*{_SUFFIX}.*"):
        if path.name[1:].rpartition(f"{_SUFFIX}.")[0] in uids:
            path.unlink(missing_ok=True)


def save(backend: ExpertBackend, directory: Path) -> Path:
    """Write the expert's state; the file that was there stays until the new one is complete."""
    with backend.lock:  # a copy, so that the expert works on while it is written
        tensors = {_MODULE + name: value.detach().clone() for name, value in backend.module.state_dict().items()}
        if backend.optimizer is not None:
            tensors.update((_OPTIMIZER + name, value.clone()) for name, value in backend.optimizer.state().items())
        metadata = {"uid": backend.uid, "class": backend.info.expert_class, "steps": str(backend.num_steps)}
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{backend.uid}{_SUFFIX}"
    draft = directory / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with draft.open("wb") as file:
            for part in encode(tensors, metadata).parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def load(backend: ExpertBackend, directory: Path) -> bool:
    """Bring an expert to the state in its file; return whether there is one."""
    path = directory / f"{backend.uid}{_SUFFIX}"
    try:
        content = bytearray(path.stat().st_size)
        with path.open("rb") as file:
            file.readinto(content)
    except FileNotFoundError:
        return False
    try:
        message = decode(content, _BOUNDS)
        tensors = message.tensors()
        num_steps = int(message.metadata["steps"])
        _check_class(backend, message.metadata.get("class"))
        with backend.lock:
            backend.module.load_state_dict(_within(_MODULE, tensors))
            if backend.optimizer is not None:
                backend.optimizer.load(_within(_OPTIMIZER, tensors))
            backend.num_steps = num_steps
    except (MalformedTensors, KeyError, ValueError, RuntimeError) as exc:
        raise CheckpointUnusable(
            f"{path} does not fit expert {backend.uid} ({backend.info.expert_class}): {exc}; "
            "move it away, or start with the class and the dimension that it was written with"
        ) from exc
    return True


def _within(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}


def _check_class(backend: ExpertBackend, stored: str | None) -> None:
    if stored != backend.info.expert_class:
        raise ValueError(f"it is of a {stored!r}")
