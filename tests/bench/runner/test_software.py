"""What a worker says about the compiler of our own kernels, torch, and switches that are set."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from strobe.bench.runner import software

GCC = "cc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc."
CROSS = (
    "x86_64-linux-gnu-gcc (crosstool-NG 1.26.0.33_a5e1ac4) 13.2.0\nCopyright (C) 2023 Free Software Foundation, Inc."
)
CLANG = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu"
APPLE = "Apple clang version 15.0.0 (clang-1500.3.9.4)\nTarget: arm64-apple-darwin23.5.0"
OTHER = "tcc version 0.9.27 (x86_64 Linux)"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory that is all that PATH has."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path


def _install(directory: Path, name: str, told: str = "", code: int = 0) -> str:
    path = directory / name
    path.write_text(f"#!{sys.executable}\nprint({told!r})\nraise SystemExit({code})\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("name", "told", "expected"),
    [
        ("cc", GCC, "gcc 12.2.0"),
        ("gcc", CROSS, "gcc 13.2.0"),
        ("clang", CLANG, "clang 14.0.6"),
        ("cc", APPLE, "clang 15.0.0"),
        ("cc", "what?", "cc"),
    ],
)
def test_a_compiler_has_its_name_and_version(tools: Path, name: str, told: str, expected: str) -> None:
    _install(tools, name, told)
    assert software.describe(1)["c_compiler"] == expected


def test_one_that_is_asked_for_is_named(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tools, "cc", GCC)
    _install(tools, "tcc", OTHER)
    monkeypatch.setenv("CC", "tcc")
    assert software.describe(1)["c_compiler"] == "tcc 0.9.27"


def test_without_one_nothing_is_said(tools: Path) -> None:
    assert "c_compiler" not in software.describe(1)


def test_one_that_only_offers_to_be_installed_is_not_named(tools: Path) -> None:
    _install(tools, "cc", "", code=1)
    assert "c_compiler" not in software.describe(1)


def test_one_that_cannot_be_run_is_not_named(tools: Path) -> None:
    path = tools / "cc"
    path.write_text("#!/nowhere\n")
    path.chmod(0o755)
    assert "c_compiler" not in software.describe(1)


@pytest.mark.frameworks
@pytest.mark.parametrize("asked", [None, "tcc", "nothing"])
@pytest.mark.parametrize("there", [("cc", "gcc", "clang"), ("gcc", "clang"), ("clang",)])
def test_it_is_the_one_that_kernels_are_built_with(
    tools: Path, monkeypatch: pytest.MonkeyPatch, asked: str | None, there: tuple[str, ...]
) -> None:
    pytest.importorskip("torch")
    from strobe.bench.workloads.layers import native
    from strobe.errors import Error

    for name in (*there, "tcc"):
        _install(tools, name, code=1)
    if asked:
        monkeypatch.setenv("CC", asked)
    monkeypatch.setattr("torch.backends.cpu.get_cpu_capability", lambda: "AVX2")
    with pytest.raises(Error) as failure:
        native.load_kernels.__wrapped__("fp32_linear")
    assert str(failure.value).startswith(f"{software.find_compiler()} cannot compile fp32_linear.c")


def test_switches_that_change_results_are_named() -> None:
    wanted = {
        "ATEN_CPU_CAPABILITY": "default",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        "NVIDIA_TF32_OVERRIDE": "0",
        "MALLOC_ARENA_MAX": "1",
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
        "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
        "HIP_LAUNCH_BLOCKING": "1",
        "OMP_NUM_THREADS": "2",
    }
    others = {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
        "HIP_VISIBLE_DEVICES": "1",
        "ROCR_VISIBLE_DEVICES": "1",
        "NVIDIA_VISIBLE_DEVICES": "GPU-6d7f",
        "TORCH_HOME": "/cache",
    }
    assert software.switches({**wanted, **others}) == wanted


def test_no_secret_is_a_switch() -> None:
    secrets = {"NVIDIA_API_KEY": "nvapi-0123456789abcdef", "TORCH_HUB_TOKEN": "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"}
    assert software.switches(secrets) == {}


@pytest.mark.parametrize(
    ("cuda", "hip", "expected"), [("12.8", None, {"cuda": "12.8"}), (None, "6.4.43483", {"hip": "6.4.43483"})]
)
def test_versions_of_cuda_rocm_and_cudnn_are_those_of_torch(
    cuda: str | None, hip: str | None, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = SimpleNamespace(
        __config__=SimpleNamespace(show=lambda: "  - GCC 13.3"),
        __version__="2.9.0",
        version=SimpleNamespace(cuda=cuda, hip=hip),
        backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91002)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    found = software.describe(1)
    assert {name: found[name] for name in ("cuda", "hip") if name in found} == expected
    assert found["cudnn"] == "91002"
