import stat
from concurrent.futures import ThreadPoolExecutor

from convoweb import secret_key


def test_the_key_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "data" / "secret-key"
    key = secret_key.load_or_create(path)
    assert len(key) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret_key.load_or_create(path) == key
    assert [file.name for file in path.parent.iterdir()] == ["secret-key"]


def test_two_installations_have_different_keys(tmp_path):
    assert secret_key.load_or_create(tmp_path / "a") != secret_key.load_or_create(tmp_path / "b")


def test_processes_that_start_at_once_agree_on_one_key(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(secret_key.load_or_create, [tmp_path / "secret-key"] * 64))
    assert len(keys) == 1
