from sessions_app.domain.following.sights import Interval, Place, Sight, Why, asked_anew, intervals_of


def test_neighbours_alike_are_one_interval_with_all_that_they_name():
    sights = [
        Sight(Why.NOT_SAID),
        Sight(Why.IN_RUN, 1),
        Sight(Why.IN_RUN, 2, 1),
        Sight(Why.LOST, 2, 1),
        Sight(Why.LOST, 2, 2),
        Sight(Why.IN_RUN, 5, 2),
    ]
    assert intervals_of(sights, first=3) == (
        Interval(3, 3, Why.NOT_SAID, (), ()),
        Interval(4, 5, Why.IN_RUN, (1, 2), (1,)),
        Interval(6, 7, Why.LOST, (2,), (1, 2)),
        Interval(8, 8, Why.IN_RUN, (5,), (2,)),
    )


def test_no_turns_are_no_intervals():
    assert intervals_of([]) == ()


def test_every_reason_has_its_place():
    seen = {Why.IN_RUN, Why.IN_INSTRUCTIONS, Why.IN_SUMMARY, Why.IN_PARENT, Why.IN_EXTRACT}
    assert {why for why in Why if why.place in (Place.WORDS, Place.SUMMARY)} == seen
    assert {why for why in Why if why.place is Place.QUESTION} == {
        Why.IN_QUESTION,
        Why.ASKED_RESULT_CUT,
        Why.ASKED_RESULT_HIDDEN,
        Why.ASKED_PART_LEFT_OUT,
    }
    assert {why for why in Why if why.place is Place.CUT_AWAY} == {Why.RESULT_CUT, Why.RESULT_HIDDEN}
    assert Why.NOT_SAID.place is Place.NOT_SAID
    assert all(Interval(1, 1, why, (), ()).is_missing for why in Why if why.place in (Place.NOWHERE, Place.CUT_AWAY))


def test_a_question_that_says_the_words_makes_a_difference_only_where_they_were_missing():
    assert asked_anew(Sight(Why.RESULT_CUT, 4, 2)) == Sight(Why.ASKED_RESULT_CUT, 4, 2)
    assert asked_anew(Sight(Why.LOST, 4, 2)) == Sight(Why.IN_QUESTION, 4, 2)
    for why in (Why.IN_RUN, Why.IN_SUMMARY, Why.NOT_SAID, Why.NO_PROMPT):
        assert asked_anew(Sight(why, 4)).why is why
