"""Which facts said once at the beginning of a conversation are still in its rolling summary, and for how long."""
