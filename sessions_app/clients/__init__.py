"""What answers outside of this program: the broker that hands work to the workers, and model endpoints."""

from sessions_app.clients.broker import Work, publish

__all__ = ["Work", "publish"]
