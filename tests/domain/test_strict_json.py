import pytest

from sessions_app.domain.strict_json import strict_json


def test_it_reads_json():
    assert strict_json('{"a": [1, 2.5, null, "NaN"]}') == {"a": [1, 2.5, None, "NaN"]}


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "1e999", "9" * 301, "{'a': 1}", ""])
def test_it_refuses_what_the_standard_or_a_database_does(text: str):
    with pytest.raises(ValueError, match=r"."):
        strict_json(text)
