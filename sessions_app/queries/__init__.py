"""What one screen reads."""
