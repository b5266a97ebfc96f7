"""All benchmarks of the proxy models and all microbenchmarks, as values: importing them imports no framework."""

from __future__ import annotations

from strobe.bench.spec import Benchmark
from strobe.bench.workloads.cvt.benchmarks import BENCHMARKS as CVT
from strobe.bench.workloads.dlrm.benchmarks import BENCHMARKS as DLRM
from strobe.bench.workloads.micro.benchmarks import BENCHMARKS as MICRO
from strobe.bench.workloads.oscar.benchmarks import BENCHMARKS as OSCAR
from strobe.bench.workloads.regnet.benchmarks import BENCHMARKS as REGNET
from strobe.bench.workloads.resnext3d.benchmarks import BENCHMARKS as RESNEXT3D
from strobe.bench.workloads.rnnt.benchmarks import BENCHMARKS as RNNT
from strobe.bench.workloads.xlmr.benchmarks import BENCHMARKS as XLMR

BENCHMARKS: tuple[Benchmark, ...] = (*DLRM, *XLMR, *CVT, *OSCAR, *RNNT, *RESNEXT3D, *REGNET, *MICRO)
