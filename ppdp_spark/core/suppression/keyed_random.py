"""Random draws that are a secret function of what is drawn for: the same at every run, unknown to others."""

from __future__ import annotations

import hashlib
import hmac
import random
from typing import Any

_BLOCK = hashlib.sha256().digest_size


class KeyedRandom(random.Random):
    """Uniform draws from HMAC-SHA-256 in counter mode, under a secret key and the name of the draw.

    Whoever does not know the key cannot tell the draws from true randomness, and drawing again for the
    same name gives the same numbers: nobody gains by running a program until its draw is to their taste.
    """

    def __init__(self, key: bytes, name: bytes) -> None:
        self._secret = hmac.new(key, name, hashlib.sha256).digest()
        self._drawn = 0
        super().__init__(0)

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """The key is the only seed."""

    def getrandbits(self, k: int, /) -> int:
        """k uniform bits, as an integer."""
        blocks = -(-k // (8 * _BLOCK))
        content = b"".join(self._block() for _ in range(blocks))
        return int.from_bytes(content, "big") >> (8 * _BLOCK * blocks - k)

    def random(self) -> float:
        """A uniform float from 0 to below 1."""
        return self.getrandbits(53) * 2.0**-53

    def _block(self) -> bytes:
        self._drawn += 1
        return hmac.new(self._secret, self._drawn.to_bytes(8, "big"), hashlib.sha256).digest()
