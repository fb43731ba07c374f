from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from sessions_app.domain.errors import InvalidInput, NotFound
from sessions_app.domain.language_models import ModelFacts
from sessions_app.models import ModelOverride, Project, Session
from sessions_app.services.model_overrides import remove_model_override, set_model_override
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)
PRICED = ModelFacts(input_price=Decimal("0.123456"), cached_input_price=Decimal("999999.999999"))


def said_of(project, name):
    return ModelOverride.objects.filter(project=project).facts_of(name)


def test_what_is_said_stays_as_it_was_given():
    project = make_project()
    set_model_override(project=project, name="m", facts=PRICED, now=NOW)
    assert said_of(project, "m") == PRICED
    assert said_of(project, "M") == ModelFacts()


def test_saying_it_again_replaces_the_whole():
    project = make_project()
    first = set_model_override(project=project, name="m", facts=PRICED, now=NOW)
    second = set_model_override(project=project, name="m", facts=ModelFacts(context_window=5), now=NOW)
    assert (first.pk, said_of(project, "m")) == (second.pk, ModelFacts(context_window=5))


def test_it_refuses_to_say_nothing_and_a_name_that_is_none():
    with pytest.raises(InvalidInput, match="at least one of context_window"):
        set_model_override(project=make_project("a"), name="m", facts=ModelFacts(), now=NOW)
    with pytest.raises(InvalidInput, match="The name of a model is"):
        set_model_override(project=make_project("b"), name="a//b", facts=PRICED, now=NOW)
    assert not ModelOverride.objects.exists()


def test_it_takes_back_what_was_said_once():
    project = make_project()
    set_model_override(project=project, name="m", facts=PRICED, now=NOW)
    remove_model_override(project=project, name="m", now=NOW)
    assert said_of(project, "m") == ModelFacts()
    with pytest.raises(NotFound):
        remove_model_override(project=project, name="m", now=NOW)


def test_a_project_that_was_deleted_meanwhile_is_not_found():
    project = make_project()
    Project.objects.all().delete()
    with pytest.raises(NotFound):
        set_model_override(project=project, name="m", facts=PRICED, now=NOW)


def test_another_window_has_all_figures_of_the_project_worked_out_anew():
    project, other = make_project("p"), make_project("other")
    make_session(project, "s"), make_session(other, "o")
    for change in (
        lambda: set_model_override(project=project, name="m", facts=ModelFacts(context_window=9), now=LATER),
        lambda: set_model_override(project=project, name="m", facts=ModelFacts(context_window=8), now=LATER),
        lambda: remove_model_override(project=project, name="m", now=LATER),
    ):
        Session.objects.update(summary_wanted_at=None)
        change()
        assert dict(Session.objects.values_list("public_id", "summary_wanted_at")) == {"s": LATER, "o": None}


def test_prices_change_no_figures():
    session = make_session()
    Session.objects.update(summary_wanted_at=None)
    set_model_override(project=session.project, name="m", facts=PRICED, now=LATER)
    remove_model_override(project=session.project, name="m", now=LATER)
    session.refresh_from_db()
    assert session.summary_wanted_at is None


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"context_window": 0},
        {"input_price": Decimal(-1)},
        {"input_price": Decimal(1), "cached_input_price": Decimal(-1)},
        {"context_window": 5, "output_price": Decimal("-0.000001")},
    ],
)
def test_the_database_refuses_rows_that_make_no_sense(columns):
    project = make_project()
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelOverride.objects.create(project=project, name="m", **columns)


def test_a_project_says_one_thing_of_a_model():
    project = make_project()
    ModelOverride.objects.create(project=project, name="m", context_window=5)
    ModelOverride.objects.create(project=make_project("other"), name="m", context_window=5)
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelOverride.objects.create(project=project, name="m", context_window=6)
