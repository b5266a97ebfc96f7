"""Bytes under a key, in a directory or an S3-compatible object store: the one seam below files and artifacts.

Keys are ours, never a user's text. Nothing here knows what the bytes are for, nor the database that refers to them.
"""

from __future__ import annotations

from pathlib import Path

from strobe.store.blobs.blob import Blob, Blobs, Draft, check_key, compose

__all__ = ["Blob", "Blobs", "Draft", "check_key", "compose", "open_blobs"]


def open_blobs(address: str | Path) -> Blobs:
    """Return the blobs at `s3://bucket/prefix`, or in a directory, which is made when first needed."""
    if isinstance(address, str) and address.startswith("s3://"):
        # Here, because only such a store needs the library.
        from strobe.store.blobs.s3 import S3Blobs

        return S3Blobs(address)
    from strobe.store.blobs.directory import DirectoryBlobs

    return DirectoryBlobs(Path(address))
