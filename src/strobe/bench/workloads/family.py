"""Families: models whose sizes are all declared alike, out of the box and optimized, for inference and training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from strobe.bench.spec import Benchmark, Latency, Tier
from strobe.bench.workloads.changes import KEPT, WIDENED

LATENCY = Latency(limit_ms=1000, percentile=99)
#: 2: training is held to its updates, a few examples to the spread of more, 8 bits to less; figures are the same;
#: 3: as many examples are judged whatever the batch, and unlike batches are measured by whole turns
VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What the sizes of a model have in common; `package` holds `ootb` and `optimized`."""

    model: str
    package: str
    #: the changes of optimized training
    training: tuple[str, ...]

    def sizes(
        self,
        name: str,
        parameters: Mapping[str, Any],
        *,
        tier: Tier,
        batch_sizes: tuple[int, ...],
        max_batch: int,
        fp32: tuple[str, ...],
        int8: tuple[str, ...],
        int8_tolerance: float,
        training_tolerance: float = 1e-2,
        training_version: int = VERSION,
    ) -> tuple[Benchmark, ...]:
        """Declare one size; `fp32` and `int8` are the changes of its optimized inference rows.

        What 8 bits may err by is half as much again as they do err: more would let whole blocks be missing.
        """
        declare = partial(
            Benchmark,
            model=self.model,
            owner="strobe",
            units="ex/s",
            tier=tier,
            batch_sizes=batch_sizes,
            max_batch=max_batch,
        )
        infer = partial(declare, mode="Inference", version=VERSION, latency=LATENCY)
        train = partial(
            declare,
            mode="Training",
            version=training_version,
            config=f"{name}-fp32",
            parameters=parameters,
            tolerance=training_tolerance,
        )
        optimized = partial(infer, implementation="Optimized", workload=f"{self.package}.optimized:inference")
        in_8_bits = {**parameters, "precision": "int8"}
        return (
            infer(
                implementation="OOTB",
                config=f"{name}-fp32",
                workload=f"{self.package}.ootb:inference",
                parameters=parameters,
            ),
            train(implementation="OOTB", workload=f"{self.package}.ootb:training"),
            optimized(config=f"{name}-fp32", parameters={**parameters, "precision": "fp32"}, changes=(*fp32, KEPT)),
            train(
                implementation="Optimized",
                workload=f"{self.package}.optimized:training",
                changes=(*self.training, KEPT),
            ),
            optimized(config=f"{name}-int8", parameters=in_8_bits, tolerance=int8_tolerance, changes=(*int8, KEPT)),
        )

    def distributed(
        self, name: str, parameters: Mapping[str, Any], *, tier: Tier, devices: int, batch_size: int, max_batch: int
    ) -> Benchmark:
        """Declare training of one size out of the box on several devices of a node, gradients averaged by DDP."""
        return Benchmark(
            model=self.model,
            implementation="OOTB",
            mode="Training",
            config=f"{name}.{devices}dev-fp32",
            version=VERSION + 1,  # what it trains was not sealed with it at first
            owner="strobe",
            units="ex/s",
            tier=tier,
            batch_sizes=(batch_size,),
            max_batch=max_batch,
            workload="strobe.bench.workloads.distributed:ddp",
            parameters={"factory": f"{self.package}.ootb:training", **parameters},
            tolerance=1e-2,
            devices=devices,
        )

    def precisions(
        self,
        name: str,
        parameters: Mapping[str, Any],
        *,
        batch_size: int,
        max_batch: int,
        changes: tuple[str, ...],
    ) -> tuple[Benchmark, ...]:
        """Declare one size in what accelerators are made for; CPUs are slow there, or have it not.

        `changes` are those of inference on accelerators.
        """
        declare = partial(
            Benchmark,
            model=self.model,
            version=VERSION,
            owner="strobe",
            units="ex/s",
            tier="full",
            batch_sizes=(batch_size,),
            max_batch=max_batch,
        )
        infer = partial(declare, mode="Inference", latency=LATENCY)
        # Weights stay in 32 bits; fp16 would need its losses scaled, too.
        train = partial(declare, mode="Training", tolerance=0.1)
        both = partial(self._both, name, parameters)
        return (
            *both("inference", "tf32", partial(infer, tolerance=0.01), changes),
            *both("inference", "bf16", partial(infer, tolerance=0.1), (*changes, WIDENED)),
            *both("inference", "fp16", partial(infer, tolerance=0.02), (*changes, WIDENED)),
            *both("training", "tf32", train, self.training),
            *both("training", "bf16", train, (*self.training, WIDENED)),
        )

    def _both(
        self,
        name: str,
        parameters: Mapping[str, Any],
        factory: str,
        precision: str,
        declare: Callable[..., Benchmark],
        changes: tuple[str, ...],
    ) -> tuple[Benchmark, Benchmark]:
        """Declare a size in one precision, out of the box and optimized."""
        in_it = {**parameters, "precision": precision}
        return (
            declare(
                implementation="OOTB",
                config=f"{name}-{precision}",
                workload=f"{self.package}.ootb:{factory}",
                parameters=in_it,
            ),
            declare(
                implementation="Optimized",
                config=f"{name}-{precision}",
                workload=f"strobe.bench.workloads.reduced:{factory}",
                parameters={"factory": f"{self.package}.optimized:{factory}", **in_it},
                changes=(*changes, KEPT),
            ),
        )
