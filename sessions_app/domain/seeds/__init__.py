"""Prompts as chuk-ai-session-manager builds them, for the format of its dictionaries; `deciding.py` is its door."""
