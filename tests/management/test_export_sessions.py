"""The command export_sessions: to a file or to standard output, all sessions or some."""

import io
import json
import stat

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_project, make_session


@pytest.fixture
def project(db):
    project = make_project()
    for name in ("a", "b", "c"):
        make_session(project, name, runs=2)
    make_session(make_project("other"), "theirs")
    return project


def run(*file, **options):
    """Return standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command("export_sessions", *file, project="p", stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def ids(text):
    return [json.loads(line)["id"] for line in text.splitlines()]


def test_all_sessions_of_the_project_go_to_standard_output(project):
    out, err = run()

    assert ids(out) == ["a", "b", "c"]
    assert err == "3 sessions exported as openai\n"


def test_some_sessions_go_into_a_file_that_only_its_owner_can_read(project, tmp_path):
    file = tmp_path / "out.md"

    out, err = run(str(file), session=["c", "a", "c"], file_format="markdown")

    assert (out, err) == ("", "2 sessions exported as markdown\n")
    assert [line for line in file.read_text().splitlines() if line.startswith("# ")] == ["# c", "# a"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_what_it_wrote_can_be_imported(project, published, tmp_path):
    file = tmp_path / "all.jsonl"
    run(str(file))
    make_project("empty")
    out = io.StringIO()

    call_command("import_sessions", str(file), project="empty", stdout=out)

    assert out.getvalue().startswith("3 imported, 0 extended, 0 unchanged, 0 changed, 0 invalid: 6 runs")


def test_what_is_not_there_is_named(project, tmp_path):
    with pytest.raises(CommandError, match="There is no session 'theirs', 'x' in the project p"):
        run(session=["a", "theirs", "x"])
    with pytest.raises(CommandError, match=r"There is no project 'q'\. Known: other, p\."):
        call_command("export_sessions", project="q")
    with pytest.raises(CommandError, match="cannot be written: No such file or directory"):
        run(str(tmp_path / "no" / "folder"))
