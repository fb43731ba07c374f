"""The images of messages, which events keep as OpenAI's parts, for providers that want them parted in type and data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from mimetypes import guess_type
from typing import Any
from urllib.parse import urlsplit

NOT_SENT = "[image_url not sent]"

_DATA_URL = re.compile(r"data:(image/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]+={0,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Image:
    """An image: its base64 `data`, or the `url` where it lies; `media_type` is None where only a look would tell."""

    media_type: str | None
    data: str | None = None
    url: str | None = None


def image_of(part: Mapping[str, Any]) -> Image | None:
    """Read an `image_url` part; None if its address is neither on the web nor data."""
    url = part["image_url"]["url"]
    if match := _DATA_URL.fullmatch(url):
        return Image(match[1].lower(), data=match[2])
    if url.lower().startswith(("http://", "https://")):
        return Image(_guessed(url), url=url)
    return None


def _guessed(url: str) -> str | None:
    try:
        found, _ = guess_type(urlsplit(url).path)
    except ValueError:
        return None
    return found if found and found.startswith("image/") else None
