"""The command import_sessions: its result line, what it skips, its exit status."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from sessions_app.models import Session
from tests.factories import make_project

CASES = Path(__file__).parents[1] / "data" / "cases"
REAL = Path(__file__).parents[3] / "shared" / "data" / "airline-support.jsonl"
MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.fixture
def project(db, published):
    return make_project()


def run(*files, **options):
    """Return the command's exit status, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    try:
        call_command("import_sessions", *files, project="p", stdout=out, stderr=err, **options)
    except SystemExit as end:
        status = end.code
    return status, out.getvalue(), err.getvalue()


def write_lines(path, *rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def test_it_imports_then_finds_nothing_new(project, tmp_path, published):
    file = write_lines(tmp_path / "a.jsonl", {"id": "a", "messages": MESSAGES}, {"id": "b", "messages": MESSAGES * 2})
    first = "2 imported, 0 extended, 0 unchanged, 0 changed, 0 invalid: 3 runs, 0 tool calls\n"
    again = "0 imported, 0 extended, 2 unchanged, 0 changed, 0 invalid: 0 runs, 0 tool calls\n"
    assert run(file) == (0, first, "")
    assert run(file) == (0, again, "")
    assert published == [("sessions_app.tasks.sweep", ())] * 2


def test_it_adds_what_is_new(project, tmp_path):
    file = write_lines(tmp_path / "a.jsonl", {"id": "a", "messages": MESSAGES})
    run(file)
    write_lines(file, {"id": "a", "messages": MESSAGES * 2})
    assert run(file)[:2] == (0, "0 imported, 1 extended, 0 unchanged, 0 changed, 0 invalid: 1 runs, 0 tool calls\n")


def test_it_names_what_it_skips_and_ends_with_1(project, tmp_path):
    good = {"id": "a", "messages": MESSAGES}
    file = write_lines(tmp_path / "a.jsonl", good, "{broken", {"id": "b", "messages": [{"content": "x"}]}, "")
    write_lines(tmp_path / "b.jsonl", {"id": "a", "messages": MESSAGES[1:]})
    status, out, err = run(file, tmp_path / "b.jsonl")
    assert status == 1
    assert out == "1 imported, 0 extended, 0 unchanged, 1 changed, 2 invalid: 1 runs, 0 tool calls\n"
    assert err.splitlines() == [
        "a.jsonl:2: invalid: It is not JSON: Expecting property name enclosed in double quotes at character 2.",
        "a.jsonl:3: b invalid: Message 1: it has no role.",
        'b.jsonl:1: a history changed: Run 1 differs at its message 1. Stored: {"content": "Hello", "role": "user"}'
        ' In the file: {"content": "Hi", "role": "assistant"}',
    ]


def test_titles_of_skipped_conversations_cannot_steer_the_terminal(project, tmp_path):
    file = write_lines(tmp_path / "a.jsonl", {"title": "\x1b[31mred", "messages": []})
    assert "\x1b" not in run(file)[2]


def test_it_refuses_unknown_projects_files_and_formats_before_anything(project, tmp_path):
    good = write_lines(tmp_path / "a.jsonl", {"id": "a", "messages": MESSAGES})
    other = tmp_path / "a.zip"
    other.write_bytes(b"PK")
    with pytest.raises(CommandError, match=r"There is no project 'q'. Known: p"):
        call_command("import_sessions", good, project="q")
    with pytest.raises(CommandError, match=r"missing.jsonl cannot be read: No such file"):
        call_command("import_sessions", good, tmp_path / "missing.jsonl", project="p")
    with pytest.raises(CommandError, match=r"a.zip: The format of this file is not recognized"):
        call_command("import_sessions", good, other, project="p")
    with pytest.raises(CommandError, match="invalid choice: 'word'"):
        call_command("import_sessions", str(good), "--project=p", "--file-format=word")
    assert not Session.objects.exists()


def test_case_35_conversations_of_another_shape_are_reported_by_line(project):
    status, out, err = run(CASES / "C35-messages.jsonl", CASES / "C35-bom-crlf.jsonl")
    assert status == 1
    assert err.startswith("C35-messages.jsonl:2: invalid: Message 1: it has no role.")
    # The line "plain" is in both files.
    assert out.startswith("3 imported, 0 extended, 1 unchanged, 0 changed, 2 invalid")


@pytest.mark.skipif(not REAL.exists(), reason=f"NOT RUN: {REAL.name} does not lie in ../shared/data")
def test_a_real_file_comes_in_whole(project):
    whole = "100 imported, 0 extended, 0 unchanged, 0 changed, 0 invalid: 757 runs, 572 tool calls\n"
    assert run(REAL) == (0, whole, "")


def test_a_file_of_another_system_is_recognized_and_its_forks_are_counted_with_its_runs(project):
    status, out, err = run(CASES / "C28-conversations.json", CASES / "C33-memory.json")
    # Two runs and one of each of three forks, and the five of the memory.
    assert (status, err) == (0, "")
    assert out == "2 imported, 0 extended, 0 unchanged, 0 changed, 0 invalid: 10 runs, 0 tool calls\n"
