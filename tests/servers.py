"""Real servers for the tests, started from what is installed, on free ports, with throw-away data."""

import atexit
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

START_SECONDS = 60

# How to stop each broker that was started, and to start it again, by its address.
_brokers: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {}


class NotInstalled(Exception):
    """A server is not on this machine; the message says how to install it."""


def free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_postgres() -> str:
    """Start PostgreSQL and return its address as a DATABASE_URL."""
    binaries = _postgres_binaries()
    folder, port = _folder("postgres"), free_port()
    prefix, environment = _as_user("postgres", folder)
    flags = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off"

    def run(name: str, *arguments: str) -> None:
        command = [*prefix, str(binaries / name), "-D", f"{folder}/data", *arguments]
        subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True)

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", flags, "start")
    atexit.register(run, "pg_ctl", "-m", "immediate", "stop")
    return f"postgres://postgres@127.0.0.1:{port}/postgres"


def start_redis() -> str:
    """Start Redis and return its address as a CELERY_BROKER_URL."""
    program = _program("redis-server", "redis-server")
    folder, port = _folder("redis"), free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return _start_broker(f"redis://127.0.0.1:{port}/0", port, command, folder)


def start_rabbitmq() -> str:
    """Start RabbitMQ and return its address as a CELERY_BROKER_URL."""
    # Debian's own wrapper refuses everybody but root.
    program = _program("rabbitmq-server", "rabbitmq-server", first="/usr/lib/rabbitmq/bin")
    folder, port, distribution, names = _folder("rabbitmq"), free_port(), free_port(), free_port()
    prefix, environment = _as_user("rabbitmq", folder)
    environment |= {
        "RABBITMQ_NODENAME": f"convoweb-{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_MNESIA_BASE": f"{folder}/data",
        "RABBITMQ_LOG_BASE": f"{folder}/log",
        "RABBITMQ_PID_FILE": f"{folder}/pid",
        "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
        "ERL_EPMD_PORT": str(names),
    }
    # Erlang's name server, which would otherwise start by itself and never end.
    _start([*prefix, "epmd", "-port", str(names)], folder, environment)
    _wait_until(lambda: _answers(names), "epmd")
    return _start_broker(f"amqp://guest:guest@127.0.0.1:{port}//", port, [*prefix, program], folder, environment)


def stop_broker(url: str) -> None:
    """Stop a broker that was started here; what it kept on disk stays."""
    _brokers[url][0]()


def start_broker_again(url: str) -> None:
    """Start a broker that was stopped, at the same address."""
    _brokers[url][1]()


def find_chromium() -> str:
    """Return the path of an installed Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise NotInstalled("Chromium is not installed (apt-get install chromium)")


def _postgres_binaries() -> Path:
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    found = debian[-1] if debian else shutil.which("initdb")
    if found is None:
        raise NotInstalled("PostgreSQL is not installed (apt-get install postgresql)")
    return Path(found).resolve().parent


def _program(name: str, package: str, *, first: str = "/usr/bin") -> str:
    # Servers stand in folders that are not on everybody's path.
    path = shutil.which(name, path=os.pathsep.join([first, os.environ.get("PATH", ""), "/usr/sbin"]))
    if path is None:
        raise NotInstalled(f"{package} is not installed (apt-get install {package})")
    return path


def _folder(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"convoweb-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _as_user(name: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return what to put before a command, and its environment, to run it without root's rights in `folder`."""
    environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    if os.geteuid() != 0:
        return [], environment
    user = pwd.getpwnam(name)
    shutil.chown(folder, name, user.pw_gid)
    group = grp.getgrgid(user.pw_gid).gr_name
    return ["setpriv", "--reuid", name, "--regid", group, "--clear-groups"], environment


def _start_broker(
    url: str, port: int, command: list[str], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    def start() -> None:
        process = _start(command, folder, environment)
        _brokers[url] = partial(_stop, process), start
        _wait_until(lambda: _answers(port), url)

    start()
    return url


def _start(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=output, stderr=output, start_new_session=True
        )
    atexit.register(_stop, process)
    return process


def _stop(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _wait_until(is_ready: Callable[[], bool], name: str) -> None:
    end = time.monotonic() + START_SECONDS
    while not is_ready():
        if time.monotonic() > end:
            raise RuntimeError(f"{name} did not start within {START_SECONDS} seconds")
        time.sleep(0.1)
