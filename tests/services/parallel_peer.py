"""A process of its own with a thread for each client; each sends its requests through the API, one after another.

Reads from standard input a list of clients, each a list of [method, path, body, headers], and waits for a line before
the threads start. Writes for each client the [status, body, headers] of its answers.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convoweb.settings")


def answers_to(requests):
    from django.test import Client  # noqa: PLC0415 (Django has to be set up first)

    client = Client(raise_request_exception=False)
    return [answer_to(client, *request) for request in requests]


def answer_to(client, method, path, body, headers):
    answer = client.generic(method, path, json.dumps(body), content_type="application/json", headers=headers)
    return [answer.status_code, answer.content.decode(), dict(answer.headers)]


def main():
    django.setup()
    from django.conf import settings  # noqa: PLC0415

    settings.ALLOWED_HOSTS = ["testserver"]
    clients = json.loads(sys.stdin.readline())
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    with ThreadPoolExecutor(len(clients)) as pool:
        answers = list(pool.map(answers_to, clients))
    sys.stdout.write(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
