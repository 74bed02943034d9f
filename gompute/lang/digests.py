"""Hashes of what the compiler reads from a disk."""

from __future__ import annotations

import hashlib
import os

__all__ = ["hash_file", "hash_folder"]


def hash_file(path: str) -> str:
    """The sha256 of a file's bytes, in hex. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def hash_folder(path: str) -> str:
    """The sha256 of the names in a folder, in hex. Raises OSError."""
    return hashlib.sha256("\0".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape")).hexdigest()
