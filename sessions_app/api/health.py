"""Whether the server is there and ready; asked without a key."""

from celery import current_app
from django.db import DatabaseError, connection
from django.http import HttpRequest
from ninja import Router
from ninja.responses import Status

from sessions_app.api.schemas import Out

BROKER_SECONDS = 1

router = Router(tags=["health"], auth=None)


class Health(Out):
    """`ok`, or what is missing."""

    status: str
    database: str = "ok"
    broker: str = "ok"


class Live(Out):
    """`ok`."""

    status: str


@router.get("/health/live", response=Live)
def live(request: HttpRequest) -> Live:  # noqa: ARG001 (ninja passes it)
    """Tell that the server answers."""
    return Live(status="ok")


@router.get("/health/ready", response={200: Health, 503: Health})
def ready(request: HttpRequest) -> Status[Health]:  # noqa: ARG001 (ninja passes it)
    """Tell whether the database and the broker answer."""
    database, broker = _database(), _broker()
    well = database == broker == "ok"
    return Status(200 if well else 503, Health(status="ok" if well else "not ready", database=database, broker=broker))


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return "ok"


def _broker() -> str:
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    except Exception:  # noqa: BLE001 (each transport has errors of its own)
        return "does not answer"
    return "ok"
