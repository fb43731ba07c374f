"""What turns runs into a shorter text, each in its own file."""
