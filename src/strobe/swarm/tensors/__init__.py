"""Tensors on the wire: safetensors layout, checked before anything is believed, compressed with a stated error.

parts = encode({"x": tensor}, {"uid": "ffn.0.1"}, compression="fp16")
message = decode(payload)
message.tensors()["x"]
"""

from strobe.swarm.tensors.codec import Message, TensorSpec, decode, encode
from strobe.swarm.tensors.compression import COMPRESSIONS, NotFinite, is_finite
from strobe.swarm.tensors.layout import DEFAULT_BOUNDS, Bounds, MalformedTensors

__all__ = [
    "COMPRESSIONS",
    "DEFAULT_BOUNDS",
    "Bounds",
    "MalformedTensors",
    "Message",
    "NotFinite",
    "TensorSpec",
    "decode",
    "encode",
    "is_finite",
]
