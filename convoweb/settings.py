"""All settings, read from the environment; every name has a default that needs no service."""

import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import environ
import structlog

from convoweb import endpoints, log_filters, private_files, secret_key, time_zone, vocabularies, whole_numbers

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()

# Where and how it runs

HOST = env.str("HOST", default="127.0.0.1")
PORT = whole_numbers.read("PORT", default=8000, least=1, most=65_535)
DEBUG = env.bool("CONVOWEB_DEBUG", default=False)
HTTPS = env.bool("CONVOWEB_HTTPS", default=False)
PROXY_COUNT = whole_numbers.read("CONVOWEB_PROXY_COUNT", default=0)

DATA_DIR = private_files.folder(Path(env.str("CONVOWEB_DATA_DIR", default="") or BASE_DIR / "var").resolve())

SECRET_KEY = env.str("CONVOWEB_SECRET_KEY", default="") or secret_key.load_or_create(DATA_DIR / "secret-key")
ALLOWED_HOSTS = env.list("CONVOWEB_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]", HOST])

# tiktoken reads this when it needs its first vocabulary.
os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabularies.install(DATA_DIR / "vocabularies"))

# What convoweb itself reads

CONVOWEB_API_RATE = env.str("CONVOWEB_API_RATE", default="")
CONVOWEB_MAX_BODY = whole_numbers.read("CONVOWEB_MAX_BODY", default=32 * 1024 * 1024, least=1)
CONVOWEB_MAX_EXPORT = whole_numbers.read("CONVOWEB_MAX_EXPORT", default=1024 * 1024 * 1024, least=1)
CONVOWEB_MAX_UPLOAD = whole_numbers.read("CONVOWEB_MAX_UPLOAD", default=512 * 1024 * 1024, least=1)
CONVOWEB_MODEL = env.str("CONVOWEB_MODEL", default="gpt-4.1-mini")
CONVOWEB_RUN_TIMEOUT = whole_numbers.read("CONVOWEB_RUN_TIMEOUT", default=3600, least=1)
CONVOWEB_SWEEP_INTERVAL = whole_numbers.read("CONVOWEB_SWEEP_INTERVAL", default=30, least=1)
CONVOWEB_ENDPOINTS = endpoints.addresses(env.str("CONVOWEB_ENDPOINTS", default=""))
CONVOWEB_ENDPOINT_KEYS = endpoints.keys(os.environ, CONVOWEB_ENDPOINTS)

# Applications and requests

INSTALLED_APPS = [
    "convoweb.administration.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "ninja",
    "django_htmx",
    "template_partials",
    "axes",
    "csp",
    "django_structlog",
    "sessions_app",
]

MIDDLEWARE = [
    "convoweb.problems.ProblemMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "convoweb.problems.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "sessions_app.views.time_zones.BrowserTimeZone",
    "axes.middleware.AxesMiddleware",
    "sessions_app.views.access.ProjectAccess",
]

ROOT_URLCONF = "convoweb.urls"
WSGI_APPLICATION = "convoweb.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATA_UPLOAD_MAX_MEMORY_SIZE = CONVOWEB_MAX_BODY
FILE_UPLOAD_HANDLERS = [
    "sessions_app.views.uploads.LimitedUpload",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
# On the disk where imports are kept, so that a large file is moved there, not copied.
FILE_UPLOAD_TEMP_DIR = private_files.folder(DATA_DIR / "uploads")

LANGUAGE_CODE = "en"
TIME_ZONE = env.str("CONVOWEB_TIME_ZONE", default="") or time_zone.of_machine()
USE_I18N = True
USE_TZ = True

# Rows and cache

DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url_config(
        env.str("DATABASE_URL", default="")
        or f"sqlite:///{quote(str(private_files.database(DATA_DIR / 'convoweb.sqlite3')))}"
    ),
}
DATABASES["default"]["CONN_MAX_AGE"] = 60
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A file, since threads and processes of the tests cannot share a database in memory.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {"default": env.cache_url("CACHE_URL", default="locmemcache://")}

# Static files

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# People and their passwords

LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/lockout.html"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
if PROXY_COUNT:
    AXES_IPWARE_PROXY_COUNT = PROXY_COUNT
    AXES_IPWARE_META_PRECEDENCE_ORDER = ["HTTP_X_FORWARDED_FOR", "REMOTE_ADDR"]
NINJA_NUM_PROXIES = PROXY_COUNT

# What a browser may do

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    },
}
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_NAME = "convoweb_session"
CSRF_COOKIE_NAME = "convoweb_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
if HTTPS:
    SECURE_HSTS_SECONDS = 30 * 24 * 3600
    if PROXY_COUNT:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Whether other hosts of the domain serve HTTPS is known to its owner alone.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# Background work

CELERY_BROKER_URL = env.str(
    "CELERY_BROKER_URL", default=f"sqlite-queue://localhost/{quote(str(DATA_DIR / 'queue.sqlite3'))}"
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Publishing happens inside requests: it gives up within a second, and the sweeper does the work later.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_TIMEOUT = 0.8
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"max_retries": 1, "interval_start": 0}
if CELERY_BROKER_URL.startswith(("redis", "valkey", "sentinel")):
    CELERY_BROKER_TRANSPORT_OPTIONS |= {"socket_connect_timeout": 0.8, "socket_timeout": 0.8}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False

# Logs: one stream of lines, from the web server and the worker alike; stdout belongs to what commands answer

LOG_LEVEL = env.str("CONVOWEB_LOG_LEVEL", default="INFO")
LOG_JSON = env.bool("CONVOWEB_LOG_JSON", default=False)
DJANGO_STRUCTLOG_CELERY_ENABLED = True

_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    log_filters.without_invitations,
    structlog.processors.TimeStamper(fmt="iso" if LOG_JSON else "%H:%M:%S", utc=LOG_JSON),
    structlog.processors.StackInfoRenderer(),
]
_RENDERER: list[Any] = (
    [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    if LOG_JSON
    else [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ,
            exception_formatter=structlog.dev.plain_traceback,
        )
    ]
)

structlog.configure(
    processors=[*_SHARED_PROCESSORS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "structlog.stdlib.ProcessorFormatter",
            "foreign_pre_chain": _SHARED_PROCESSORS,
            "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_RENDERER],
        },
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stderr",
            "formatter": "line",
            "filters": ["brief"],
        },
    },
    "filters": {
        "no_sweeps": {"()": "django.utils.log.CallbackFilter", "callback": log_filters.not_a_sweep},
        "no_starts": {"()": "django.utils.log.CallbackFilter", "callback": log_filters.not_a_request_start},
        "brief": {"()": "django.utils.log.CallbackFilter", "callback": log_filters.without_others_tracebacks},
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        # One line for each answer and one for each task is enough.
        "django.request": {"level": "ERROR"},
        "django.server": {"handlers": [], "propagate": False},
        "django_structlog.middlewares.request": {"filters": ["no_starts"]},
        "django_structlog.celery.receivers": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"filters": ["no_sweeps"]},
        # What is asked of model endpoints is what people said; it belongs into no log, however much is logged.
        **{name: {"level": "WARNING"} for name in ("httpcore2", "httpx2", "openai")},
    },
}
