"""One expert of another peer, without autograd: what it says of itself, and its two passes as requests and answers.

Everything that comes back is held against the expert's description: names, dtypes, shapes, rows, and that values are
finite. `begin` and `finish` are apart so that many experts can be asked at once from one thread. An expert that is not
where it was is looked up in the swarm: its server may have moved to another relay, or another server has it now.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

import torch

from strobe.errors import Error, UsageError
from strobe.swarm.client.link import Link, Question
from strobe.swarm.client.size import most_bytes, most_rows
from strobe.swarm.dht import Node
from strobe.swarm.dht.attempt import Attempt
from strobe.swarm.experts import schema
from strobe.swarm.experts.directory import ExpertPlace, find_expert
from strobe.swarm.experts.schema import ExpertInfo, SchemaMismatch, check_rows, parse_infos
from strobe.swarm.net.network import Payload, PeerRefused, PeerUnreachable, Sendable
from strobe.swarm.tensors import COMPRESSIONS, MalformedTensors, NotFinite, TensorSpec, decode, encode


class BadReply(Error):
    """A peer's answer is not what its expert gives: it is broken, or lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """How experts are asked; times in seconds."""

    #: for an answer; an expert that has moved gets it again where it is now
    timeout_s: float = 30.0
    #: of requests, and of the answers that are asked for
    compression: str = "none"
    #: whether an answer with NaN or infinite values is refused, or passed on
    non_finite: Literal["refuse", "pass"] = "refuse"

    def __post_init__(self) -> None:
        if self.compression not in COMPRESSIONS:
            raise UsageError(f"no compression {self.compression!r}; there are {', '.join(COMPRESSIONS)}")


class ExpertStub:
    """Requests to one expert."""

    def __init__(self, place: ExpertPlace, link: Link, options: CallOptions) -> None:
        #: where it was last known to be
        self.place = place
        self.link = link
        self.options = options
        self._info: ExpertInfo | None = None
        self._said = {schema.UID: place.uid, schema.COMPRESSION: options.compression}
        link.strangers.add(self)

    @property
    def info(self) -> ExpertInfo:
        """What the expert takes and gives; asked for when it is first needed, together with others of that peer."""
        if self._info is None:
            self.introduce().result()
        if self._info is None:
            raise PeerRefused(f"no expert {self.place.uid!r} there")
        return self._info

    @property
    def has_info(self) -> bool:
        return self._info is not None

    @functools.cached_property
    def most_rows(self) -> int:
        """How many rows a backward pass can have: they and their gradients travel together."""
        return most_rows([*self.info.inputs.values(), *self.info.grad_outputs.values()])

    def check_learnable(self, rows: int) -> None:
        """UsageError if a forward pass has so many rows that there can be no backward pass."""
        if rows > self.most_rows:
            raise UsageError(
                f"{self.place.uid} was given {rows} rows; at most {self.most_rows} fit into a request together with "
                "their gradients: split the batch, or use torch.no_grad() if there will be no backward pass"
            )

    def introduce(self) -> Future[None]:
        """Ask what this expert, and others of the same peer, take and give; what its peer does not have stays unknown.

        Others may wait for the same future: do not cancel it.
        """
        return self.link.strangers.asked(self, lambda group: self.link.begin(lambda node: self._described(node, group)))

    async def _described(self, node: Node, group: Sequence[ExpertStub]) -> None:
        uids = [stub.place.uid for stub in group]
        question = "\n".join(uids).encode()
        infos = parse_infos(await self._answer(node, schema.INFO, question, schema.MAX_INFO_BYTES), uids)
        for stub, info in zip(group, infos, strict=True):
            if info is not None:
                stub._info = info
                self.link.strangers.discard(stub)

    def forward(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return the outputs of a forward pass."""
        return self.finish_forward(self.link.ask(self._forward(inputs)), inputs[0].shape[0])

    def begin_forward(self, inputs: Sequence[torch.Tensor]) -> Future[Payload]:
        """Send a forward pass; leave the inputs alone until it is finished."""
        return self.link.begin(self._forward(inputs))

    def _forward(self, inputs: Sequence[torch.Tensor]) -> Callable[[Node], Awaitable[Payload]]:
        info = self.info
        sent = dict(zip(info.inputs, inputs, strict=True))
        return self._request(schema.FORWARD, sent, info.outputs, inputs[0].shape[0])

    def finish_forward(self, payload: Payload, rows: int) -> list[torch.Tensor]:
        return self._received(payload, self.info.outputs, rows)

    def backward(self, inputs: Sequence[torch.Tensor], grads: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return the gradients of the floating-point inputs, for those of the floating-point outputs."""
        return self.finish_backward(self.link.ask(self._backward(inputs, grads)), inputs[0].shape[0])

    def begin_backward(self, inputs: Sequence[torch.Tensor], grads: Sequence[torch.Tensor]) -> Future[Payload]:
        """Send a backward pass: all inputs, and the gradients of the floating-point outputs."""
        return self.link.begin(self._backward(inputs, grads))

    def _backward(
        self, inputs: Sequence[torch.Tensor], grads: Sequence[torch.Tensor]
    ) -> Callable[[Node], Awaitable[Payload]]:
        sent = dict(zip(self.info.inputs, inputs, strict=True))
        sent.update(zip(self.info.grad_outputs, grads, strict=True))
        return self._request(schema.BACKWARD, sent, self.info.grads, inputs[0].shape[0])

    def finish_backward(self, payload: Payload, rows: int) -> list[torch.Tensor]:
        """Return the gradients of the floating-point inputs."""
        return self._received(payload, self.info.grads, rows)

    def _request(
        self, method: str, tensors: dict[str, torch.Tensor], expected: dict[str, TensorSpec], rows: int
    ) -> Callable[[Node], Awaitable[Payload]]:
        """Return what asks for a pass, where the node lives."""
        payload = encode(tensors, self._said, compression=self.options.compression)
        most = most_bytes(TensorSpec(spec.dtype, (rows, *spec.shape)) for spec in expected.values())
        return lambda node: self._answer(node, method, payload, most)

    def _answer(self, node: Node, method: str, payload: Sendable, max_reply: int) -> Awaitable[Payload]:
        place, timeout_s = self.place, self.options.timeout_s
        question = Question(node.network, place.address, method, payload, timeout_s=timeout_s, max_reply=max_reply)
        pursue = functools.partial(self._pursue, node, place, question)
        return pursue() if question.first is None else Attempt(question.first, pursue)

    async def _pursue(self, node: Node, place: ExpertPlace, question: Question) -> Payload:
        try:
            return await question.answer()
        except PeerUnreachable:
            # If only the answer was lost on the way, what was asked is done twice, which a training bears.
            found = await find_expert(node, place.uid)
            if found is None or found == place:
                raise
        self.place = found
        return await question.at(found.address).answer()

    def _received(self, payload: Payload, expected: dict[str, TensorSpec], rows: int) -> list[torch.Tensor]:
        uid = self.place.uid
        try:
            message = decode(payload)
            check_rows(uid, expected, message.specs, rows)
            tensors = message.tensors(finite=self.options.non_finite == "refuse")
        except (MalformedTensors, SchemaMismatch) as exc:
            raise BadReply(f"{uid} at {self.place.address} answered what it should not: {exc}") from exc
        except NotFinite as exc:
            raise BadReply(f"{uid} at {self.place.address} answered NaN or infinite values") from exc
        return [tensors[name] for name in expected]
