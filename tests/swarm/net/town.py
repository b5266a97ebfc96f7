"""Machines of a test's own: network namespaces with wires between them. Needs Linux and root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack

import pytest


def skip_without(*tools: str) -> None:
    """Skip a test where there are no namespaces, or where a tool is not installed."""
    if reason := _missing(tools):
        pytest.skip(reason)


def _missing(tools: Iterable[str]) -> str:
    if sys.platform != "linux" or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    for tool in tools:
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    probe = subprocess.run(["ip", "netns", "add", f"strobe-{os.getpid()}"], capture_output=True, text=True)
    if probe.returncode:
        return f"no network namespaces here: {probe.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", f"strobe-{os.getpid()}"], check=True)
    return ""


class Town:
    """Namespaces, by name."""

    def __init__(self, stack: ExitStack, names: Iterable[str]) -> None:
        self._stack = stack
        self._prefix = f"strobe-{os.getpid()}-"
        for name in names:
            _ip("netns", "add", self._prefix + name)
            stack.callback(_ip, "netns", "del", self._prefix + name)
            self.run(name, "ip", "link", "set", "lo", "up")

    def wire(self, name: str, end: str, address: str, other: str, other_end: str) -> None:
        """Lay a wire between two, and give its end at the first an address."""
        far = self._prefix + other
        self.run(name, "ip", "link", "add", end, "type", "veth", "peer", "name", other_end, "netns", far)
        self.run(name, "ip", "address", "add", address, "dev", end)
        self.run(name, "ip", "link", "set", end, "up")
        self.run(other, "ip", "link", "set", other_end, "up")

    def run(self, name: str, *command: str, text: str = "") -> str:
        """Return what a command prints that succeeds."""
        done = self.attempt(name, *command, text=text)
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    def attempt(self, name: str, *command: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Return how a command ended."""
        return subprocess.run(self._inside(name, command), input=text, capture_output=True, text=True, timeout=100)

    def start(self, name: str, *command: str) -> str:
        """Start a process that goes on; return the line that it prints first."""
        process = self._stack.enter_context(
            subprocess.Popen(self._inside(name, command), stdout=subprocess.PIPE, text=True)
        )
        self._stack.callback(process.kill)
        assert process.stdout is not None
        return process.stdout.readline().strip()

    def _inside(self, name: str, command: tuple[str, ...]) -> list[str]:
        return ["ip", "netns", "exec", self._prefix + name, *command]


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
