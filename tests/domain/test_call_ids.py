from itertools import product

from sessions_app.domain.call_ids import unique_call_ids


def test_legal_and_unique_ids_stay():
    assert unique_call_ids(["call_1", "x" * 40, "B-2"]) == ["call_1", "x" * 40, "B-2"]


def test_repeated_ids_are_numbered():
    assert unique_call_ids(["a", "a", "a"]) == ["a", "a-2", "a-3"]


def test_a_made_id_never_takes_one_that_stands_further_on():
    assert unique_call_ids(["a b", "a", "a", "a-2", "a_b"]) == ["a_b-2", "a", "a-3", "a-2", "a_b"]


def test_illegal_ids_are_made_legal_and_short():
    assert unique_call_ids(["a.b", "", "y" * 41, "y" * 50]) == ["a_b", "call", "y" * 40, "y" * 38 + "-2"]


def test_long_ids_that_differ_only_where_the_number_goes_do_not_try_each_others_numbers():
    letters = "abcdefghijklmnopqrstuvwxyz"
    ids = ["x" * 37 + "".join(end) for end in product(letters, repeat=3)]
    unique = unique_call_ids(ids * 2)
    assert unique[: len(ids)] == ids
    assert [each.rpartition("-")[2] for each in unique[len(ids) :]] == [str(n) for n in range(2, len(ids) + 2)]
    assert {len(each) for each in unique} == {40}
