import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from convoweb import whole_numbers


@pytest.mark.parametrize(("text", "number"), [("", 7), ("1", 1), (" 65535 ", 65535), ("0012", 12)])
def test_a_number_is_read_and_the_default_where_none_is_set(monkeypatch, text, number):
    monkeypatch.setenv("PORT", text)
    assert whole_numbers.read("PORT", default=7, least=1, most=65_535) == number


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", "1.5", "1e3", "٣", "²", "9" * 5000])
def test_what_is_none_or_out_of_bounds_is_refused_with_what_is_allowed(monkeypatch, text):
    monkeypatch.setenv("PORT", text)
    with pytest.raises(ImproperlyConfigured, match="PORT is a whole number from 1 to 65,535; this is '"):
        whole_numbers.read("PORT", default=7, least=1, most=65_535)


def test_commands_say_so_in_one_line(tmp_path):
    environment = os.environ | {"PORT": "abc", "CONVOWEB_DATA_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "manage.py", "up"], env=environment, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (1, "PORT is a whole number from 1 to 65,535; this is 'abc'.\n")
