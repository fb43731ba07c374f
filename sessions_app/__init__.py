"""The house: conversations, the prompts built from them, and the doors to both."""
