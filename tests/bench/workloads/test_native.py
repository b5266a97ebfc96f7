"""Linear layers in C give what torch gives, for every shape, and say what is missing where they cannot be compiled."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from strobe.bench.runner.software import find_compiler
from strobe.bench.workload import NotHere
from strobe.bench.workloads.layers import fp32_product, native
from strobe.bench.workloads.layers.fp32_linear import PackedLinear, pack_linears
from strobe.bench.workloads.layers.fp32_product import multiply_ours
from strobe.bench.workloads.layers.fp32_residual import Fp32Conv
from strobe.bench.workloads.layers.int8_linear import Int8Linear, quantize_linears
from strobe.errors import Error

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]


def _prove(rows: int, inputs: int, outputs: int, is_relu: bool) -> None:
    torch.manual_seed(rows)
    layer = nn.Linear(inputs, outputs)
    x = torch.randn(rows, inputs)
    with torch.no_grad():
        expected = layer.double()(x.double())
        layer.float()
        expected = expected.relu() if is_relu else expected
        torch.testing.assert_close(PackedLinear(layer, is_relu)(x).double(), expected, atol=1e-4, rtol=1e-4)
        # Each product errs by up to half a step of its weight and half a step of its input; their sum is a random walk.
        step = layer.weight.abs().amax() * x.abs().amax() * (1 / 63 + 2 / 127)
        assert (Int8Linear(layer, is_relu)(x) - expected).abs().max() <= 3 * float(step) * inputs**0.5


def _assemble(name: str, directory: Path) -> list[str]:
    assembler = directory / f"{name}.s"
    source = Path(native.__file__).with_name(f"{name}.c")
    subprocess.run([find_compiler() or "cc", *native._FLAGS, "-S", str(source), "-o", str(assembler)], check=True)
    return assembler.read_text().splitlines()


def _has(extension: str) -> bool:
    return "-mno-avx512f" not in native._FLAGS and extension in Path("/proc/cpuinfo").read_text()


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(1, 300), inputs=st.integers(1, 600), outputs=st.integers(1, 150), is_relu=st.booleans())
def test_linear_layers_in_c_are_torchs(
    one_thread: None, instructions: None, rows: int, inputs: int, outputs: int, is_relu: bool
) -> None:
    _prove(rows, inputs, outputs, is_relu)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads the assembler of one processor")
@pytest.mark.parametrize("name", ["fp32_linear", "fp32_conv"])
def test_the_innermost_loop_keeps_all_in_registers(instructions: None, name: str, tmp_path: Path) -> None:
    # A factor that is read back from the stack in every step once made the product a third slower, and no test failed.
    products = [line for line in _assemble(name, tmp_path) if "\tvfmadd" in line]
    width = "%zmm" if _has("avx512f") else "%ymm"
    assert len([line for line in products if width in line]) >= 12
    assert not [line for line in products if "(%rsp)" in line or "(%rbp)" in line]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads the assembler of one processor")
@pytest.mark.parametrize("name", ["int8_linear", "int8_conv"])
def test_products_in_eight_bits_take_vnni_where_there_is_one(instructions: None, name: str, tmp_path: Path) -> None:
    products = [line for line in _assemble(name, tmp_path) if "\tvpdpbusd" in line]
    assert len(products) >= 12 if _has("avx512_vnni") else not products
    assert not [line for line in products if "(%rsp)" in line or "(%rbp)" in line]


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize(("rows", "outputs"), [(0, 8), (3, 0), (0, 0)])
def test_nothing_times_a_layer_is_nothing(rows: int, outputs: int) -> None:
    # Divided among threads, it once killed the process.
    layer = nn.Linear(8, outputs)
    x = torch.zeros(rows, 8)
    assert PackedLinear(layer)(x).shape == Int8Linear(layer)(x).shape == (rows, outputs)
    assert multiply_ours(x, layer.weight.detach().t(), threads=2).shape == (rows, outputs)


def test_threads_share_the_work(one_thread: None, instructions: None) -> None:
    torch.set_num_threads(2)
    _prove(139, 300, 70, is_relu=True)


def test_seven_bits_are_exact_where_values_are_whole(instructions: None) -> None:
    """No sum of 16 bits overflows, not even of the greatest weights and inputs."""
    layer = nn.Linear(64, 16, bias=False)
    with torch.no_grad():
        layer.weight.fill_(63.0)
        layer.weight[1::2] = -63.0
        x = torch.full((7, 64), 127.0)
        expected = x @ layer.weight.T
        torch.testing.assert_close(Int8Linear(layer)(x), expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("is_relu", [True, False])
@pytest.mark.parametrize("fault", [torch.nan, torch.inf, -torch.inf])
def test_what_seven_bits_cannot_say_comes_out_as_nan(fault: float, is_relu: bool) -> None:
    layer = nn.Linear(40, 20)
    x = torch.randn(9, 40)
    x[4, 17] = fault
    with torch.no_grad():
        found = Int8Linear(layer, is_relu)(x)
        layer.weight[3, 5] = torch.nan
        of_weights = Int8Linear(layer, is_relu)(x[:4])
    assert found.isnan().any(1).tolist() == found.isnan().all(1).tolist() == [row == 4 for row in range(9)]
    assert of_weights.isnan().any(0).tolist() == of_weights.isnan().all(0).tolist() == [n == 3 for n in range(20)]


@pytest.mark.parametrize("is_relu", [True, False])
def test_nan_comes_out_of_linear_layers_as_nan(instructions: None, is_relu: bool) -> None:
    layer = nn.Linear(40, 20)
    x = torch.randn(9, 40)
    x[4, 17] = torch.nan
    with torch.no_grad():
        expected = layer(x).relu() if is_relu else layer(x)
        torch.testing.assert_close(PackedLinear(layer, is_relu)(x), expected, atol=1e-4, rtol=1e-4, equal_nan=True)


def test_a_relu_behind_a_layer_becomes_part_of_it() -> None:
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    x = torch.randn(5, 2, 8)
    with torch.no_grad():
        expected = model(x)
        packed = pack_linears(model)
        assert isinstance(packed[1], nn.Identity)
        torch.testing.assert_close(packed(x), expected)


def test_layers_in_other_precisions_stay() -> None:
    model = nn.Sequential(nn.Linear(8, 16)).double()
    assert isinstance(pack_linears(model)[0], nn.Linear)
    assert isinstance(quantize_linears(model)[0], Int8Linear)


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    native.load_kernels.cache_clear()
    with pytest.raises(NotHere, match=r"int8_linear\.c must be compiled, and there is no C compiler: install gcc"):
        native.load_kernels("int8_linear")
    native.load_kernels.cache_clear()


def test_layers_that_are_written_for_cpus_say_so_on_other_devices() -> None:
    with pytest.raises(NotHere, match="8-bit linear layers are written for CPUs, and the device is meta"):
        quantize_linears(nn.Sequential(nn.Linear(8, 16, device="meta")))
    with pytest.raises(NotHere, match="our own convolutions are written for CPUs, and the device is meta"):
        Fp32Conv(nn.Conv2d(8, 16, 1, device="meta"), is_relu=True)


def test_a_kernel_that_is_wrong_is_no_machines_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native, "__file__", str(tmp_path / "native.py"))
    (tmp_path / "wrong.c").write_text("int wrong(void) { return nowhere; }\n")
    with pytest.raises(Error, match=r"cannot compile wrong\.c: .*nowhere") as failure:
        native.load_kernels.__wrapped__("wrong")
    assert not isinstance(failure.value, NotHere)


def test_a_compiler_that_says_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    monkeypatch.setattr("torch.backends.cpu.get_cpu_capability", lambda: "AVX2")
    with pytest.raises(
        NotHere, match=r"false cannot compile fp32_linear\.c, nor anything else .*: it said nothing; .* CC"
    ):
        native.load_kernels.__wrapped__("fp32_linear")


def test_training_goes_on_with_torchs_product_where_the_compiler_knows_no_openmp(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Apple's clang, or one without libomp: kernels cannot be built there, and nothing is wrong with them."""
    compiler = tmp_path / "clang"
    compiler.write_text("#!/bin/sh\necho \"clang: error: unsupported option '-fopenmp'\" >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setattr("torch.backends.cpu.get_cpu_capability", lambda: "AVX2")
    native.load_kernels.cache_clear()
    try:
        with pytest.raises(NotHere, match="unsupported option '-fopenmp'; install gcc, or set CC to another"):
            native.load_kernels("fp32_linear")
        assert not fp32_product.is_faster.__wrapped__()
    finally:
        native.load_kernels.cache_clear()


def test_a_directory_that_nothing_can_be_loaded_from_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(path: str) -> None:
        raise OSError(f"{path}: failed to map segment from shared object")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("ctypes.CDLL", refuse)
    with pytest.raises(NotHere, match=rf"loaded from {tmp_path}/.*failed to map.*without exec, set TMPDIR to another"):
        native.load_kernels.__wrapped__("embedding_sgd")


@pytest.mark.parametrize("name", ["fp32_linear", "int8_linear", "embedding_sgd"])
def test_subnormal_numbers_stay_what_they_are(name: str) -> None:
    native.load_kernels.__wrapped__(name)  # anew: what was loaded before would have switched them off for good
    assert sys.float_info.min / 2 > 0
