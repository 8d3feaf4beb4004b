"""Command lines of workers, in every file that may hold one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rules import SPLICES
from told import facts_in, lint_text

from prefetch_advisor.lint.kinds.celery.facts import (
    AirflowSetting,
    BrokerSaid,
    RabbitVersion,
    Variable,
    WorkerCommand,
)
from prefetch_advisor.lint.kinds.celery.shell_words import commands, scripts
from prefetch_advisor.model.lint import Place

COMPOSE = "services:\n  worker:\n    image: shop\n"
POD = (
    "apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: w\nspec:\n{before}"
    "{pad}spec:\n{pad}  containers:\n{pad}    - name: worker\n"
    "{pad}      command: [celery, -A, shop]\n"
    "{pad}      args:\n{pad}        - worker\n{pad}        - --prefetch-multiplier\n"
    '{pad}        - "@"\n{pad}        - -c4\n'
)


def pod(kind: str, before: str, deep: int) -> str:
    return POD.format(api="v1", kind=kind, before=before, pad="  " * deep)


#: files, with @ for the multiplier, and the line that it is on
FORMS: dict[str, tuple[str, str, int]] = {
    "Procfile": ("Procfile", "web: x\nworker: celery -A shop worker -c 4 "
        "--prefetch-multiplier=@", 2),
    "Procfile with a suffix": ("Procfile.dev", "w: celery worker -A shop "
        "--prefetch-multiplier @", 1),
    "exec and a path": ("run.sh", "#!/bin/sh\nexec /opt/venv/bin/celery -A shop worker \\\n"
        "  -c 4 \\\n  --prefetch-multiplier @\n", 4),
    "python -m": ("run.sh", "python -m celery -A shop worker --prefetch-multiplier=@", 1),
    "poetry": ("run.sh", "cd /app && poetry run celery -A shop worker --prefetch-multiplier=@", 1),
    "manage.py": ("run.sh", "python manage.py celery worker --prefetch-multiplier=@ &", 1),
    "a reloader": ("run.sh", "watchmedo auto-restart -d . -- celery -A shop worker "
        "--prefetch-multiplier=@", 1),
    "a shell": ("run.sh", 'gosu app sh -c "\n  celery -A shop worker \\\n'
        '  --prefetch-multiplier @"\n', 3),
    "an app called celery": ("run.sh", "celery -A celery worker --prefetch-multiplier=@", 1),
    "a global option": ("run.sh", "celery --app=shop --workdir /app -b amqp://r worker "
        "--prefetch-multiplier=@ -l info", 1),
    "a variable before": ("run.sh", "C_FORCE_ROOT=1 celery -A $APP worker "
        "--prefetch-multiplier=@", 1),
    "click's variable": ("Procfile", "w: CELERY_WORKER_PREFETCH_MULTIPLIER=@ "
        "celery -A shop worker", 1),
    "Dockerfile": ("Dockerfile", "FROM python\nCMD celery -A shop worker "
        "--prefetch-multiplier @\n", 2),
    "a list": ("Dockerfile", "FROM python\nCMD [\"celery\", \"-A\", \"shop\", \"worker\",\\\n"
        "  # of messages\n  \"--prefetch-multiplier=@\"]\n", 4),
    "ENTRYPOINT and CMD": ("docker/worker.Dockerfile", "FROM python\n"
        'ENTRYPOINT ["celery", "-A", "shop"]\n'
        'CMD ["worker", "--prefetch-multiplier", "@"]\n', 3),
    "a stage of another": ("Dockerfile.worker", "FROM python AS base\n"
        'ENTRYPOINT ["celery", "-A", "shop"]\n'
        'FROM base\nCMD ["worker", "--prefetch-multiplier", "@"]\n', 4),
    "a list with a shell": ("Dockerfile", 'FROM python\nCMD ["sh", "-c", "celery -A shop worker '
        '--prefetch-multiplier @"]\n', 2),
    "go on": ("Dockerfile", "FROM python\nCMD exec celery -A shop worker \\\n"
        "    --concurrency 4 \\\n    --prefetch-multiplier @\n", 4),
    "ENV": ("Dockerfile", "FROM python\nENV CELERY_WORKER_PREFETCH_MULTIPLIER=@\n"
        "CMD celery -A shop worker\n", 2),
    "systemd": ("shop.service", "[Service]\nExecStart=/x/celery -A shop worker -c 4 "
        "--prefetch-multiplier=@\n", 2),
    "systemd goes on": ("shop.service", "[Service]\nExecStart=-/bin/sh -c '\\\n"
        "  celery -A shop worker \\\n  --prefetch-multiplier=@'\n", 4),
    "systemd's environment": ("shop.service", "[Service]\n"
        'Environment="A=b" CELERY_WORKER_PREFETCH_MULTIPLIER=@\n'
        "ExecStart=celery -A shop worker\n", 2),
    "supervisor": ("supervisord.conf", "[program:shop]\ncommand=celery -A shop worker -c 4\n"
        "  --prefetch-multiplier=@  ; of four\n", 3),
    "supervisor's environment": ("shop.ini", "[program:shop]\ncommand = celery -A shop worker\n"
        'environment = A="b",CELERY_WORKER_PREFETCH_MULTIPLIER="@"\n', 3),
    "the init script": ("default/celeryd", '# options\nCELERYD_OPTS="--time-limit=300 '
        '--prefetch-multiplier=@"\n', 2),
    "compose": ("compose.yaml", COMPOSE + "    command: celery -A shop worker "
        "--prefetch-multiplier=@\n", 4),
    "compose quoted": ("docker-compose.yml", COMPOSE + "    command: 'celery -A shop worker "
        "--prefetch-multiplier @'\n", 4),
    "compose list": ("docker-compose.prod.yml", COMPOSE + "    command:\n      - celery\n"
        "      - -A\n      - shop\n      - worker\n      - --prefetch-multiplier=@\n", 9),
    "compose folded": ("compose.yml", COMPOSE + "    command: >-\n      celery -A shop worker\n"
        "      -c 4\n      --prefetch-multiplier @\n", 7),
    "compose shell": ("compose.yml", COMPOSE + '    command: ["sh", "-c", "celery -A shop worker '
        '--prefetch-multiplier @"]\n', 4),
    "compose entrypoint": ("compose.yml", COMPOSE + "    entrypoint: [celery, -A, shop]\n"
        "    command: [worker, --prefetch-multiplier, '@']\n", 5),
    "compose anchor": ("compose.yml", "x-w: &w\n  command: celery -A shop worker "
        "--prefetch-multiplier=@\nservices:\n  worker:\n    <<: *w\n    image: shop\n", 2),
    "compose environment": ("compose.yml", COMPOSE + "    command: celery -A shop worker\n"
        "    environment:\n      CELERY_WORKER_PREFETCH_MULTIPLIER: @\n", 6),
    "compose environment list": ("compose.yml", COMPOSE + "    command: celery -A shop worker\n"
        "    environment:\n      - CELERY_WORKER_PREFETCH_MULTIPLIER=@\n", 6),
    "Deployment": ("k8s/w.yaml", pod("Deployment", "  template:\n", 2), 14),
    "StatefulSet": ("k8s/w.yml", pod("StatefulSet", "  template:\n", 2), 14),
    "CronJob": ("k8s/w.yaml",
        pod("CronJob", "  jobTemplate:\n    spec:\n      template:\n", 4), 16),
    "second document": ("k8s/w.yaml", "kind: Service\napiVersion: v1\n---\n"
        + pod("Deployment", "  template:\n", 2), 17),
    "manifest with a script": ("k8s/w.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
        "  - name: w\n    command: [/bin/sh, -c]\n    args:\n    - |\n      set -e\n"
        "      exec celery -A shop worker \\\n        --prefetch-multiplier @\n", 11),
    "multi": ("run.sh", "celery multi start w1 w2 -A shop -c4 --prefetch-multiplier=@", 1),
    "Python": ("run.py", "from shop import app\n\n# celery\napp.worker_main(['worker',\n"
        "  '--prefetch-multiplier', '@'])\n", 5),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_zero_on_the_command_line_is_found_where_it_stands(form):
    name, text, line = FORMS[form]
    (found,) = lint_text({name: text.replace("@", "0")})
    assert found.finding.code == "PA350"
    assert (found.place.path, found.place.line) == (name, line)


@pytest.mark.parametrize("number", ["1", "4", "$M", "${M:-0}"])
@pytest.mark.parametrize("form", FORMS)
def test_another_number_and_one_that_is_not_known_are_silent(form, number):
    name, text, _ = FORMS[form]
    assert lint_text({name: text.replace("@", number)}) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "# celery -A shop worker --prefetch-multiplier 0\n"),
        ("run.sh", "echo celery; worker --prefetch-multiplier 0\n"),
        ("run.sh", "pip install celery worker --prefetch-multiplier 0\n"),
        ("run.sh", "celery multi stop w1 -A shop --prefetch-multiplier 0\n"),
        ("run.sh", "celery -A shop beat --prefetch-multiplier 0\n"),
        ("run.sh", "celery $ARGS worker --prefetch-multiplier 0\n"),
        ("run.sh", "celery -A shop worker -- \n --prefetch-multiplier 0\n"),
        ("Procfile", "celery -A shop worker --prefetch-multiplier 0\n"),
        ("Dockerfile", "RUN celery -A shop worker --prefetch-multiplier 0\n"),
        ("Dockerfile", 'ENTRYPOINT run.sh\nCMD ["celery", "worker", "--prefetch-multiplier", "0"]'),
        ("Dockerfile", "CMD celery worker --prefetch-multiplier 0\nCMD celery -A shop worker"),
        ("x.service", "[Service]\n#ExecStart=celery worker --prefetch-multiplier 0\n"),
        ("x.conf", "[program:x]\n;command=celery worker --prefetch-multiplier 0\n"),
        ("x.conf", "[unix_http_server]\ncommand=celery worker --prefetch-multiplier 0\n"
                   "[program:y]\n"),
        ("templates/w.yaml", "apiVersion: v1\nkind: {{ .Kind }}\nargs: [celery, worker, "
                             "--prefetch-multiplier, 0]\n"),
        ("x.yaml", "services: celery worker --prefetch-multiplier 0\n"),
        ("x.yaml", "apiVersion: v1\nservices: {a: {command: celery worker "
                   "--prefetch-multiplier 0}}\n"),
    ],
)  # fmt: skip
def test_what_starts_no_worker_is_silent(name, text):
    assert lint_text({name: text}) == []


def option(command: WorkerCommand, name: str) -> str | None:
    found = command.option(name)
    assert found is not None
    return found.value


def test_what_a_file_says_beside_its_commands():
    facts = facts_in(
        {
            "compose.yml": "services:\n"
            "  rabbit: {image: 'reg.example:5000/x/rabbitmq:4-management'}\n"
            "  w:\n    command: celery -A shop worker -Q a,b -Ofair --disable-prefetch -c8\n"
            "    environment: [CELERY_BROKER_URL=redis://r, AIRFLOW__CELERY__TASK_ACKS_LATE=0]\n",
            "Procfile": "w: dramatiq_queue_prefetch=3 dramatiq -p2 --threads 4 shop.tasks\n",
        }
    )
    celery, dramatiq = sorted(
        (fact for fact in facts if isinstance(fact, WorkerCommand)), key=lambda f: f.program
    )
    assert [option(celery, name) for name in ("app", "queues", "optimization", "concurrency")] == [
        "shop",
        "a,b",
        "fair",
        "8",
    ]
    assert celery.option("disable-prefetch") is not None
    assert (option(dramatiq, "processes"), option(dramatiq, "threads")) == ("2", "4")
    others = [fact for fact in facts if not isinstance(fact, WorkerCommand)]
    assert [type(fact) for fact in others] == [Variable, RabbitVersion, BrokerSaid, AirflowSetting]
    assert [f.version for f in others if isinstance(f, RabbitVersion)] == [(4, 0, 0)]


@given(st.text(alphabet="ab \t\r\n\f\x85\u2028\\\"'$`(){};&|<>#=-c", max_size=60))
@settings(deadline=None, max_examples=400)
def test_any_text_has_words_and_each_begins_where_it_says(text):
    def placed(offset: int) -> Place:
        return Place("x", 1, offset)

    for words in commands(text, placed):
        assert words
        for word in words:
            assert 0 <= word.place.column < len(text)
            first = text[word.place.column]
            assert not first.isspace()
            if word.known and word.text and first not in "\"'\\":
                assert word.text[0] == first
        assert all(scripts(words))


@given(
    st.sampled_from(sorted(FORMS)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5), st.sampled_from(SPLICES)), max_size=4),
)
@settings(deadline=None, max_examples=300)
def test_no_file_that_is_nearly_right_stops_lint(form, splices):
    name, text, _ = FORMS[form]
    data = text.replace("@", "0").encode()
    for where, gone, new in splices:
        at = int(where * len(data))
        data = data[:at] + new + data[at + gone :]
    for found in lint_text({name: data}):
        assert found.place.path == name
        assert 1 <= found.place.line <= data.count(b"\n") + data.count(b"\r") + 1
