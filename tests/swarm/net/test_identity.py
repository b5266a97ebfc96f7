from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.net.identity import Identity, IdentityUnusable, parse_peer_id, peer_id_of, peer_text, verify


def test_an_identity_is_the_same_after_a_round_trip_through_a_file(tmp_path: Path) -> None:
    identity = Identity.generate()
    identity.save(tmp_path / "keys" / "peer")
    again = Identity.load(tmp_path / "keys" / "peer")
    assert again.peer_id == identity.peer_id
    assert again.public == identity.public
    assert verify(identity.public_key, again.sign(b"words"), b"words")
    assert os.listdir(tmp_path / "keys") == ["peer"]


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_the_secret_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "peer"
    Identity.generate().save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(IdentityUnusable, match="chmod 600"):
        Identity.load(path)


def test_saving_never_replaces_an_identity(tmp_path: Path) -> None:
    path = tmp_path / "peer"
    first = Identity.load_or_create(path)
    with pytest.raises(FileExistsError):
        Identity.generate().save(path)
    assert Identity.load_or_create(path).peer_id == first.peer_id


@pytest.mark.parametrize(
    "content", ["", "strobe-peer-1 ", "strobe-peer-1 AAAA", "strobe-peer-1 !!", "\x00\xff", "x" * 99]
)
def test_a_file_that_is_no_identity_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "peer"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(IdentityUnusable):
        Identity.load(path)


@given(st.binary(min_size=20, max_size=20))
def test_peer_ids_survive_their_text(raw: bytes) -> None:
    text = peer_text(raw)
    assert len(text) == 32
    assert parse_peer_id(text) == raw


@given(st.text(max_size=40))
def test_a_text_is_a_peer_id_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert len(parse_peer_id(text)) == 20


def test_the_id_binds_both_keys() -> None:
    one, other = Identity(bytes(32)), Identity(bytes([1] * 32))
    assert peer_id_of(one.public) == one.peer_id
    assert peer_id_of(one.public[:32] + other.public[32:]) not in (one.peer_id, other.peer_id)


def test_signatures_of_others_do_not_verify() -> None:
    one, other = Identity.generate(), Identity.generate()
    assert not verify(other.public_key, one.sign(b"m"), b"m")
    assert not verify(one.public_key, one.sign(b"m"), b"n")
    assert not verify(b"short", b"", b"")
