"""What other settings would have done over a whole conversation, turn after turn; `replay.py` is its door."""
