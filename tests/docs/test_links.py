"""What documents link to in the repository exists, headings and pictures too; every picture and document is linked."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def links_of(document):
    """Return the addresses of a document's links and pictures that lead into the repository."""
    return [
        link for link in LINK.findall(CODE.sub("", document.read_text())) if not link.startswith(("http", "mailto:"))
    ]


def headings_of(document):
    """Return the anchors of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", LINK.sub("", heading).lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_link_leads_somewhere(document):
    for link in links_of(document):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        if anchor:
            assert anchor in headings_of(target), link


def test_each_document_and_picture_is_linked_from_another():
    linked = {
        (document.parent / link.partition("#")[0]).resolve() for document in DOCUMENTS for link in links_of(document)
    }
    here = {path.resolve() for path in (ROOT / "docs").rglob("*") if path.is_file()}
    assert here - linked == set()
