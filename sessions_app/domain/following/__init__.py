"""Following words over the turns of a conversation: where each prompt had them, and why it had them no more."""
