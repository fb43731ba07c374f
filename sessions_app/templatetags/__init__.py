"""Template tags: how fates, budgets, trees, numbers and times look on every page."""
