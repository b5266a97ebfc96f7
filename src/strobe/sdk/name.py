"""Ids and names for runs. Draws from its own source of randomness: a user's seeds are never touched."""

from __future__ import annotations

import os
from zlib import crc32

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_ADJECTIVES = (
    "amber autumn bold brave bright brisk calm clear cobalt copper coral crisp dapper deep eager early fair fleet "
    "fresh gentle glad golden grand hazel honest humble ivory jade keen kind late light lively lucid lunar mellow "
    "misty noble ocean olive pale pearl plain polar proud quick quiet rapid royal ruby sandy sharp silent silver "
    "smooth solar steady sunny swift tidal vivid warm"
)
_NOUNS = (
    "arrow aspen atlas beacon birch bloom breeze bridge brook canyon cedar cliff cloud comet creek crest delta dune "
    "ember falcon fern field fjord flame flash flint forest gale glacier glade harbor haven heron island lagoon "
    "lantern lark lens maple meadow mesa meteor moon moss nova orbit otter pebble pine planet prism quartz rain "
    "reef ridge river robin spark spruce star stone summit thunder tide trail valley wave willow wind"
)


def generate_id(length: int = 8) -> str:
    """Return a random run id."""
    return _letters(os.urandom(length + 4), length)


def id_of(text: str) -> str:
    """Return the run id that every process computing it from `text` gets."""
    return _letters(_digest(text), 8)


def generate_name(of: str | None = None) -> str:
    """Return a readable name such as `brisk-otter-417`; `of` a run id it is the same in every process."""
    first, second, third, fourth = (os.urandom(4) if of is None else _digest(of))[:4]
    adjectives, nouns = _ADJECTIVES.split(), _NOUNS.split()
    number = (third << 8 | fourth) % 1000
    return f"{adjectives[first % len(adjectives)]}-{nouns[second % len(nouns)]}-{number}"


def _digest(text: str) -> bytes:
    # Checksums, not a cryptographic hash: nobody gains from a collision, and loading hashlib takes longer than init().
    content = text.encode()
    return b"".join(crc32(content, start).to_bytes(4, "big") for start in (0x5EED, 0xF00D, 0xCAFE))


def _letters(entropy: bytes, length: int) -> str:
    number = int.from_bytes(entropy, "big")
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)
