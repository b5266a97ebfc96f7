"""Processors of two kinds have two names, on any system: results of two machines must not look like those of one."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from strobe.bench import machine
from strobe.environment import processor

X86 = "processor\t: 0\nmodel name\t: AMD EPYC 9B45\nflags\t\t: fpu avx2\n\nprocessor\t: 1\nmodel name\t: another\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: {}\n"


def _model(cpuinfo: Path) -> str | None:
    return processor.cpu_model(time.monotonic() + 5, cpuinfo)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        (X86, "AMD EPYC 9B45"),
        (ARM.format("0xd0c"), "CPU implementer 0x41, CPU part 0xd0c, CPU variant 0x3"),
        (ARM.format("0xd40"), "CPU implementer 0x41, CPU part 0xd40, CPU variant 0x3"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
        ("", None),
    ],
    ids=["x86", "one ARM", "another ARM", "POWER", "nothing"],
)
def test_linux_names_processors_or_numbers_them(text: str, name: str | None, tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(text)
    assert _model(cpuinfo) == name
    assert _model(tmp_path / "missing") is None


def test_two_macs_are_two_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`platform` calls both of them `arm`."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.processor", lambda: "arm")
    program = tmp_path / "sysctl"
    prints = {}
    for name in ("Apple M1", "Apple M2"):
        program.write_text(f'#!/bin/sh\n[ "$*" = "-n machdep.cpu.brand_string" ] && echo "{name}"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        found = machine.describe()
        assert found.cpu == name
        prints[name] = found.fingerprint
    assert prints["Apple M1"] != prints["Apple M2"]
