"""The fields of a session that people and bots may change: their bounds, and how a patch changes them."""

import json
from collections.abc import Mapping
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidInput, at
from sessions_app.domain.setting_values import check_settings
from sessions_app.domain.text_cleaning import clean_json

LONGEST = {"title": 500, "user_id": 200}
LONGEST_TAG = 100
MOST_TAGS = 100


def check_session_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given ones of title, instructions, user_id, tags, metadata and settings in stored form.

    None stands for a field's empty value. Tags lose repetitions; illegal characters become U+FFFD.
    """
    checked = {name: _EMPTY[name] if value is None else clean_json(value) for name, value in fields.items()}
    if "settings" in checked:
        checked["settings"] = _checked_settings(checked["settings"])
    if "tags" in checked:
        checked["tags"] = list(dict.fromkeys(checked["tags"]))
    errors = [*_too_long(checked), *_bad_tags(checked.get("tags", ()))]
    if errors:
        raise InvalidInput(" ".join(error.detail for error in errors), errors=errors)
    return checked


def check_patch(changes: Mapping[str, Any]) -> None:
    """Refuse a merge patch whose settings name what is none, also where it would only take the name away."""
    if changes.get("settings") is not None:
        _checked_settings(changes["settings"])


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` with a JSON merge patch applied (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def patch_between(target: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch that makes one object of another.

    What a patch cannot say, that a name has the value null, is refused.
    """
    patch = _difference(target, wanted)
    if not _is_same(merge_patch(target, patch), wanted):
        detail = "A name cannot be given the value null; leave the name out."
        raise InvalidInput(detail, errors=[FieldError("/metadata", detail)])
    return patch


def _difference(target: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = dict.fromkeys(name for name in target if name not in wanted)
    for name, value in wanted.items():
        before = target.get(name)
        if name in target and _is_same(before, value):
            continue
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            patch[name] = _difference(before, value)
        else:
            patch[name] = value
    return patch


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; Python takes true for 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


_EMPTY: Mapping[str, Any] = {
    "title": "",
    "instructions": "",
    "user_id": "",
    "tags": [],
    "metadata": {},
    "settings": {},
}


def _checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    with at("/settings"):
        return check_settings(settings)


def _too_long(fields: Mapping[str, Any]) -> list[FieldError]:
    return [
        FieldError(f"/{name}", f"{name} may have at most {longest} characters.")
        for name, longest in LONGEST.items()
        if len(fields.get(name, "")) > longest
    ]


def _bad_tags(tags: list[str] | tuple[str, ...]) -> list[FieldError]:
    errors = [
        FieldError(f"/tags/{place}", f"A tag has 1 to {LONGEST_TAG} characters.")
        for place, tag in enumerate(tags)
        if not 0 < len(tag) <= LONGEST_TAG
    ]
    if len(tags) > MOST_TAGS:
        errors.append(FieldError("/tags", f"A session has at most {MOST_TAGS} tags."))
    return errors
