import pytest
from playwright.sync_api import expect

from sessions_app.models import Event, Membership, Session
from tests.factories import make_session

HOSTILE = '"><script>window.pwned=1</script><img src=x onerror="window.pwned=2">'


@pytest.fixture
def administrator(member):
    member.is_staff = member.is_superuser = True
    member.save()
    return member


def test_the_administration_keeps_the_policy_and_shows_text_as_text(administrator, project, page, live_server):
    make_session(project, "s", runs=1, title=HOSTILE, user_id=HOSTILE)
    Event.objects.update(text=HOSTILE)
    pages = [f"{name}/" for name in ("project", "apikey", "session", "run", "event", "summary", "import")]
    pages += [f"session/{Session.objects.get().pk}/change/", f"event/{Event.objects.earliest('pk').pk}/change/"]
    for path in ["", *(f"sessions_app/{path}" for path in pages)]:
        page.goto(f"{live_server.url}/admin/{path}")
        expect(page.locator("#site-name")).to_be_visible()
    assert HOSTILE in page.locator("#content").inner_text()
    assert page.evaluate("window.pwned") is None


def test_a_member_is_chosen_by_name(administrator, project, page, live_server, django_user_model):
    django_user_model.objects.create_user("colleague")
    page.goto(f"{live_server.url}/admin/sessions_app/project/{project.pk}/change/")
    page.locator(".add-row a").click()
    page.locator(".select2-selection").last.click()
    page.locator(".select2-search__field").fill("coll")
    page.get_by_role("option", name="colleague").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist .success")).to_be_visible()
    assert Membership.objects.filter(project=project, user__username="colleague").exists()


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 22, 25)")])
def test_the_administration_follows_light_and_dark(administrator, page, live_server, scheme, background):
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{live_server.url}/admin/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
