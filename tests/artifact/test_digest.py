"""Digests equal wandb's: the golden values were computed with wandb 0.31.0 from the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.artifact import Artifact, Manifest
from strobe.artifact import digest as digests
from strobe.errors import ArtifactError, MissingExtra, UsageError
from strobe.home import Home
from tests.artifact.stage import write


@pytest.fixture
def folder(tmp_path: Path, home: Home) -> Path:
    folder = tmp_path / "d"
    write(folder / "a.txt", "alpha\n")
    write(folder / "b.txt", "beta\n")
    write(folder / "sub" / "c.bin", bytes(range(256)))
    write(folder / "sub" / "empty", b"")
    return folder


def test_empty_artifact_has_wandbs_digest(home: Home) -> None:
    assert Artifact("ds", "dataset").digest == "64e7c61456b10382e2f3b571ac24b659"


def test_directory_has_wandbs_digest_and_manifest(folder: Path) -> None:
    artifact = Artifact("ds", "dataset")
    artifact.add_dir(folder)
    assert artifact.digest == "a5ec12695f5890fa6290786502c8bde2"
    assert artifact.manifest.to_manifest_json() == {
        "version": 1,
        "storagePolicy": "wandb-storage-policy-v1",
        "storagePolicyConfig": {"storageLayout": "V2"},
        "contents": {
            "a.txt": {"digest": "n5+Q2+Pl7hIYyGuIOdsZlQ==", "size": 6},
            "b.txt": {"digest": "8M8qklFgRQJKDJkUeyjwWw==", "size": 5},
            "sub/c.bin": {"digest": "4shl20Fivtljv6qe9qwY8A==", "size": 256},
            "sub/empty": {"digest": "1B2M2Y8AsgTpgAmY7PhCfg==", "size": 0},
        },
    }


def test_names_and_order_have_wandbs_digest(folder: Path) -> None:
    named = Artifact("ds", "dataset")
    named.add_file(folder / "a.txt", name="x/y.txt")
    assert named.digest == "ced807527817d22743aae71cba48c6f1"
    ordered = Artifact("ds", "dataset")
    ordered.add_file(folder / "b.txt", "ä.txt")
    for name in ("Z.txt", "a/b", "a.b"):
        ordered.add_file(folder / "a.txt", name)
    assert ordered.digest == "da4a050b8f87f4d07b13f70da8145ad9"


def test_references_have_wandbs_digest(folder: Path) -> None:
    one = Artifact("ds", "dataset")
    one.add_reference(f"file://{folder}/a.txt")
    assert one.digest == "560069026c2f0f41cb5af7ddc56e29bf"
    many = Artifact("ds", "dataset")
    many.add_reference(f"file://{folder}", name="data")
    assert many.digest == "3496dd1775b3ff97697b702cddf8f2e7"
    other = Artifact("ds", "dataset")
    other.add_reference("foo://bar/baz.dat", name="q.dat")
    assert other.digest == "cf963081dd0ff6454630ebc8394881ec"


def test_a_file_reference_without_checksum_is_named_by_its_address() -> None:
    assert digests.of_text("file:///tmp/wbx/d/a.txt") == "ADtL2C0x1v73Sq0NU6Mm8w=="


def test_xxh128_has_wandbs_digest_or_names_what_to_install(folder: Path) -> None:
    try:
        import xxhash  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="pip install xxhash"):
            Artifact("ds", "dataset", digest_algorithm="XXH128")
        return
    artifact = Artifact("ds", "dataset", digest_algorithm="XXH128")
    entry = artifact.add_file(folder / "a.txt")
    assert entry.digest == "iQyKXFrSqKLtup6UeFNGow=="
    assert artifact.digest == "d5300ed66e06e35ef2bb78603911e47a"
    assert entry.to_json()["extra"] == {"alg": "XXH128"}


def test_unknown_algorithm_is_refused() -> None:
    with pytest.raises(UsageError, match="'MD5' or 'XXH128'"):
        Artifact("ds", "dataset", digest_algorithm="SHA1")


@pytest.mark.parametrize("text", ["", "???", "n5+Q2+Pl7hIYyGuIOdsZlQ", "n5+Q2+Pl7hIYyGuIOdsZ", "../../etc/passwd"])
def test_only_a_digest_becomes_a_path(text: str) -> None:
    with pytest.raises(UsageError, match="not the base64 digest"):
        digests.to_hex(text)


def test_manifest_survives_its_json(folder: Path) -> None:
    artifact = Artifact("ds", "dataset")
    artifact.add_dir(folder)
    artifact.add_reference("s3://bucket/key/file.txt")
    read = Manifest.decode(artifact.manifest.encode())
    assert read.to_manifest_json() == artifact.manifest.to_manifest_json()
    assert read.digest == artifact.digest


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"contents": []}', b'{"contents": {"../x": {"digest": "a"}}}', b'{"contents": {"x": {}}}'],
)
def test_what_is_no_manifest_is_an_artifact_error(content: bytes) -> None:
    with pytest.raises(ArtifactError, match="not an artifact manifest"):
        Manifest.decode(content)
