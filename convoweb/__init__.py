"""The roof of the house: wiring only."""

from convoweb.celery import app as celery_app

__all__ = ["celery_app"]
