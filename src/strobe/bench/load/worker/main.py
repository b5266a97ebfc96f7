"""Runs one job: load the tracker's file and the profile's file, measure, write the result as JSON.

A failure is not caught: its traceback ends up in the job's log, where the other side finds the last line.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
from types import ModuleType

from .arrival import wait_for_server
from .bench import Bench


def load_file(name: str, path: str) -> ModuleType:
    """Import a file by path under a name that shadows nothing."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(job_path: str) -> None:
    with open(job_path, encoding="utf-8") as stream:
        job = json.load(stream)
    tracker_file = load_file("_load_tracker", job["tracker"])
    profile = load_file("_load_profile", job["profile"])
    bench = Bench(
        tracker_class=tracker_file.Tracker,
        tracker_path=job["tracker"],
        module=tracker_file.MODULE,
        directory=job["directory"],
        mode=job["mode"],
        features=job["features"],
        options={**profile.OPTIONS, **job["options"]},
    )
    metrics = profile.measure(bench)
    if job["mode"] == "online":
        metrics = {**metrics, **wait_for_server(bench.arrival)}
    version = _version(tracker_file.DISTRIBUTION)
    partial = job["result"] + ".partial"
    with open(partial, "w", encoding="utf-8") as stream:
        json.dump({"metrics": metrics, "version": version}, stream)
    os.replace(partial, job["result"])


def _version(distribution: str) -> str:
    """The installed version; empty for a tracker that is no distribution, such as the floor."""
    return importlib.metadata.version(distribution) if distribution else ""
