"""What was said and is worth remembering, and whether a summary still says it."""
