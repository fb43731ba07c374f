"""Pages as they read."""

import re


def page(client, path, **texts):
    """Return the source of a page that is there."""
    response = client.get(path, texts)
    assert response.status_code == 200
    return response.content.decode()


def told(shown):
    """Return a page as it reads, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", shown))
