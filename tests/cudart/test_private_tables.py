"""How the driver signs what NVIDIA's static runtime asks it to."""

from __future__ import annotations

import hmac
from typing import Any

import pytest
from Crypto.Hash import MD2
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.abi.cudart import private_tables


class _Md2:
    """As hashlib has its own: for the standard library's HMAC."""

    digest_size, block_size = 16, 16  # RFC 1319: blocks of 16 bytes

    def __init__(self, text: bytes = b"") -> None:
        self._of = MD2.new(text)
        self.update, self.digest = self._of.update, self._of.digest

    def copy(self) -> Any:
        made = _Md2()
        made._of = self._of.copy()
        made.update, made.digest = made._of.update, made._of.digest
        return made


@pytest.mark.parametrize(
    ("text", "digest"),
    [  # RFC 1319, A.5
        (b"", "8350e5a3e24c153df2275c9f80692773"),
        (b"message digest", "ab4f496bfb2a530b219ff33031fe06b0"),
    ],
)
def test_the_hash_is_md2(text: bytes, digest: str) -> None:
    assert MD2.new(text).hexdigest() == digest


@given(st.binary(max_size=200))
def test_the_signature_is_an_hmac(message: bytes) -> None:
    expected = hmac.new(private_tables._KEY, message, _Md2).digest()  # type: ignore[arg-type]
    assert private_tables._signature(message) == expected
