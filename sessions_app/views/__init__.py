"""The browser's door: one view renders a full page or, for htmx, the named partial inside it."""
