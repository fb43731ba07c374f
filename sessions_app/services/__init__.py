"""Verbs: what changes or works something out; keyword-only functions that several doors share."""
