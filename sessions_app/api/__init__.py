"""The door of bots: one router for each noun."""
