"""Celery's settings in Python: every form once wrong, once right, and once not to be known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from told import facts_in, lint_text, written

from prefetch_advisor.lint import run
from prefetch_advisor.lint.judges import JOINS
from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.settings import Settings
from prefetch_advisor.model.lint import Consumer

APP = 'from celery import Celery\napp = Celery("shop", broker="amqp://rabbit//")\n'
DJANGO = APP + 'app.config_from_object("django.conf:settings", namespace="CELERY")\n'


def consumers(files: dict[str, str]) -> list[Consumer]:
    """The consumers that the files make together."""
    facts = facts_in(files)
    found = [fact for join in JOINS for fact in join(facts)]
    assert all(isinstance(fact, Consumer) for fact in found)
    return [fact for fact in found if isinstance(fact, Consumer)]


def codes(files: dict[str, str]) -> list[tuple[str, str, int]]:
    """Code, file and line of what lint finds."""
    return [(f.finding.code, f.place.path, f.place.line) for f in lint_text(files)]


#: files with the multiplier N on line 4 of the first
FORMS = {
    "a module": {"celeryconfig.py": "\n\n\nworker_prefetch_multiplier = N\n"},
    "a module with types": {"celeryconfig.py": "\n\n\nworker_prefetch_multiplier: int = N\n"},
    "the old name": {"celeryconfig.py": "\n\n\nCELERYD_PREFETCH_MULTIPLIER = N\n"},
    "Django": {
        "shop/settings.py": "\n\n\nCELERY_WORKER_PREFETCH_MULTIPLIER = N\n",
        "shop/celery.py": DJANGO,
    },
    "Django without its app": {"shop/settings.py": "\n\n\nCELERY_WORKER_PREFETCH_MULTIPLIER = N\n"},
    "another namespace": {
        "shop/settings.py": "# for celery\n\n\nJOBS_WORKER_PREFETCH_MULTIPLIER = N\n",
        "shop/celery.py": DJANGO.replace('"CELERY"', '"JOBS"'),
    },
    "the old name in Django": {
        "shop/settings.py": "\n\n\nCELERYD_PREFETCH_MULTIPLIER = N\n",
        "shop/celery.py": DJANGO,
    },
    "an attribute": {"shop.py": APP + "\napp.conf.worker_prefetch_multiplier = N\n"},
    "an item": {"shop.py": APP + '\napp.conf["worker_prefetch_multiplier"] = N\n'},
    "an argument": {"shop.py": APP + "\napp.conf.update(worker_prefetch_multiplier=N)\n"},
    "several lines": {"shop.py": APP + "app.conf.update(\n    worker_prefetch_multiplier=N)\n"},
    "a mapping": {"shop.py": APP + '\napp.conf.update({"worker_prefetch_multiplier": N})\n'},
    "dict": {"shop.py": APP + "\napp.conf.update(dict(worker_prefetch_multiplier=N))\n"},
    "unpacked": {"shop.py": APP + '\napp.conf.update(**{"worker_prefetch_multiplier": N})\n'},
    "a named mapping": {
        "shop.py": APP + 'CONF = {\n    "worker_prefetch_multiplier": N}\napp.conf.update(CONF)\n'
    },
    "the app's argument": {
        "shop.py": "from celery import Celery\n\n\n"
        "app = Celery('x', worker_prefetch_multiplier=N)\n"
    },
    "the app's changes": {
        "shop.py": "import celery\n\n\n"
        "app = celery.Celery('x', changes={'worker_prefetch_multiplier': N})\n"
    },
    "a class": {
        "shop.py": APP + "class Conf:\n    worker_prefetch_multiplier = N\n"
        "app.config_from_object(Conf)\n"
    },
    "Flask": {
        "shop.py": "from flask import Flask\n\ndef make(app):\n"
        '    app.config.from_mapping(CELERY={"worker_prefetch_multiplier": N})\n'
    },
    "a function": {
        "shop.py": "from celery import Celery\ndef make(flask):\n    app = Celery(flask.name)\n"
        "    app.conf.worker_prefetch_multiplier = N\n    return app\n"
    },
    "another file's app": {
        "shop/conf.py": "from shop.celery import app\n\n\n"
        "app.conf.worker_prefetch_multiplier = N\n",
        "shop/celery.py": APP,
    },
}


def with_number(files: dict[str, str], number: str) -> dict[str, str]:
    return {
        name: text.replace("= N", f"= {number}")
        .replace("=N", f"={number}")
        .replace(": N", f": {number}")
        for name, text in files.items()
    }


@pytest.mark.parametrize("form", FORMS)
def test_no_limit_is_seen_in_every_form_and_where_it_stands(form):
    (found,) = consumers(with_number(FORMS[form], "0"))
    assert found.client == "Celery"
    assert found.prefetch is not None
    assert (found.prefetch.value, found.prefetch.place.line) == (0, 4)
    assert found.prefetch.place.path == next(iter(FORMS[form]))


@pytest.mark.parametrize("form", FORMS)
def test_no_limit_is_an_error_on_that_line_and_a_multiplier_of_one_is_silent(form):
    place = next(iter(FORMS[form])), 4
    assert codes(with_number(FORMS[form], "0")) == [("PA301", *place)]
    assert codes(with_number(FORMS[form], "1")) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_multiplier_of_one_is_no_unlimited_consumer_in_any_form(form):
    assert consumers(with_number(FORMS[form], "1")) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "unknown",
    [
        "int(os.environ.get('M', 0))",
        "env.int('M', default=0)",
        "0 if DEBUG else 4",
        "os.getenv('M') or 0",
        "settings.M",
        "M",
    ],
)
def test_what_the_run_decides_is_not_guessed(form, unknown):
    assert consumers(with_number(FORMS[form], unknown)) == []


@pytest.mark.parametrize(
    "zero", ["'0'", "0.0", "int('0')", "4 - 4", "NONE", "-0", "ONE // 2", "int(NONE)"]
)
def test_what_comes_to_zero_is_zero(zero):
    text = f"NONE = 0\nONE = 1\nworker_prefetch_multiplier = {zero}\n"
    (found,) = consumers({"celeryconfig.py": text})
    assert found.prefetch is not None
    assert found.prefetch.value == 0


@pytest.mark.parametrize("odd", ["float('nan')", "1e999", "-4", "10 ** 9 * 10 ** 9", "'4x'", "0.5"])
def test_what_is_no_number_of_messages_is_not_told(odd):
    settings = f"app.conf.worker_prefetch_multiplier = {odd}\napp.conf.task_time_limit = {odd}\n"
    files = {"shop/celery.py": APP + settings, "Procfile": "w: celery -A shop worker -c 4\n"}
    assert codes(files) == []


@pytest.mark.parametrize(
    "text",
    [
        "if DEBUG:\n    worker_prefetch_multiplier = 0\n",
        "try:\n    worker_prefetch_multiplier = 0\nexcept ImportError:\n    pass\n",
        "worker_prefetch_multiplier = 0\nif LONG:\n    worker_prefetch_multiplier = 1\n",
        "worker_prefetch_multiplier = 0\nworker_prefetch_multiplier = 4\n",
        "worker_prefetch_multiplier = 0\nfrom local import worker_prefetch_multiplier\n",
        "for worker_prefetch_multiplier in (0,):\n    pass\n",
        APP + "if DEBUG:\n    app.conf.worker_prefetch_multiplier = 0\n",
        "worker_prefetch_multiplier = True\n",
        "worker_prefetch_multiplier = None\n",
        "class Other:\n    worker_concurrency = 0\n",
        "class Env(BaseSettings):\n    CELERY_WORKER_PREFETCH_MULTIPLIER: int = 0\n",
        "# worker_prefetch_multiplier = 0\n",
        '"""worker_prefetch_multiplier = 0"""\n',
    ],
)
def test_a_value_that_may_not_be_in_force_is_not_told(text):
    assert consumers({"celeryconfig.py": text}) == []


def test_tests_are_not_what_runs():
    text = "worker_prefetch_multiplier = 0\n"
    assert consumers({"tests/celeryconfig.py": text, "test_celery.py": text}) == []


@pytest.mark.parametrize(
    "broker",
    [
        'broker_url = "redis://cache:6379/0"\n',
        'broker_url = "sqs://"\n',
        'BROKER_URL = "sentinel://a:26379;sentinel://b:26379"\n',
        'BROKER_TRANSPORT = "sqs"\n',
        'broker_url = os.environ.get("BROKER", "redis://localhost")\n',
        "broker_url = settings.REDIS_URL\n",
        'broker_url = os.environ["REDIS_URL"]\n',
        'broker_url = f"{REDIS}/3"\n',
        'broker_url = f"redis+socket://{path}"\n',
        'HOST = "redis://cache"\nbroker_url = HOST + "/0"\n',
    ],
)
def test_a_setting_of_celery_is_no_proof_of_rabbitmq(broker):
    text = (
        broker + "worker_prefetch_multiplier = 0\ntask_acks_late = True\ntask_time_limit = 9000\n"
    )
    assert consumers({"celeryconfig.py": text}) == []
    assert codes({"celeryconfig.py": text}) == []


def test_a_command_that_names_a_multiplier_takes_the_place_of_the_setting():
    files = {"celeryconfig.py": "worker_prefetch_multiplier = 0\n"}
    own = "a: celery -A shop worker -c 2 --prefetch-multiplier 3\n"
    (found,) = consumers(files | {"Procfile": own})
    assert found.prefetch is not None
    assert (found.prefetch.value, found.subject) == (6, "a")
    other = own + "b: celery -A shop worker -c 2\n"
    assert {f.prefetch.value for f in consumers(files | {"Procfile": other}) if f.prefetch} == {
        0,
        6,
    }


WINDOWS = [
    # C077: multiplier 4 where nothing sets it
    ("", "-c 8", 32, 8),
    ("", "--concurrency=8 --prefetch-multiplier=1", 8, 8),
    ("", "-c8", 32, 8),
    ("app.conf.worker_prefetch_multiplier = 2\n", "-c 8", 16, 8),
    ("app.conf.worker_concurrency = 3\n", "", 12, 3),
    ("app.conf.worker_concurrency = 3\n", "-c 0", 12, 3),
    ("app.conf.worker_concurrency = 3\n", "--autoscale 10,2 -c 5", 40, 10),
    ("app.conf.worker_concurrency = 3\n", "--autoscale=2,10", 40, 10),
    ("app.conf.worker_concurrency = 3\n", "--autoscale 10", 40, 10),
    ("", "-c 4 --prefetch-multiplier 0", 16, 4),
    ("", "-P gevent -c 1000", 4000, 1000),
    ("", "-c 8 -P solo", 32, 1),
    ("", "-EB -c 8 -Ofair --without-mingle", 32, 8),
    ("", "-c 20000", 80000, 20000),
]


@pytest.mark.parametrize(("settings", "command", "window", "at_once"), WINDOWS)
def test_the_window_is_multiplier_times_processes(settings, command, window, at_once):
    files = {"shop/celery.py": APP + settings, "Procfile": f"w: celery -A shop worker {command}\n"}
    (found,) = consumers(files)
    assert found.prefetch is not None
    assert found.concurrency is not None
    assert (found.prefetch.value, found.concurrency.value) == (window, at_once)


@pytest.mark.parametrize(
    ("settings", "command", "window"), [each[:3] for each in WINDOWS if "gevent" not in each[1]]
)
def test_celery_asks_for_that_window(settings, command, window, monkeypatch):
    """Against Celery itself: its command line, and a worker that is made but not started."""
    celery = pytest.importorskip("celery")
    components = pytest.importorskip("celery.worker.components")
    app = celery.Celery("shop", broker="memory://", set_as_current=False)
    exec(settings, {"app": app})
    asked: list[int] = []

    class Worker:
        exitcode = 0

        def __init__(self, **options):
            self.options = options

        def start(self):
            options = self.options
            bounds = options.get("autoscale") or (None, None)
            worker = SimpleNamespace(
                concurrency=options.get("concurrency") or app.conf.worker_concurrency,
                max_concurrency=bounds[0],
                prefetch_multiplier=int(options["prefetch_multiplier"]),
            )
            step = SimpleNamespace(
                instantiate=lambda *_, **given: asked.append(given["initial_prefetch_count"])
            )
            names = ("consumer_cls", "process_task", "hostname", "task_events", "ready_callback")
            for name in (*names, "pool", "timer", "app", "hub", "options", "disable_rate_limits"):
                setattr(worker, name, None)
            components.Consumer.create(step, worker)

    monkeypatch.setattr(app, "Worker", Worker, raising=False)
    pool = [] if "-P" in command else ["-P", "solo"]
    app.worker_main(["worker", *pool, *command.split()])
    assert asked == [window]


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ("", ""),  # as many as there are processors
        ("", "-c auto"),
        ("", "-c $WEB_CONCURRENCY"),
        ("", "-c ${WORKERS:-4}"),
        ("", "-c 4 $OPTIONS"),
        ("", "--autoscale $MAX,1"),
        ("app.conf.worker_concurrency = int(os.environ.get('N', 4))\n", ""),
        ("app.conf.worker_prefetch_multiplier = int(os.environ.get('N', 4))\n", "-c 4"),
        ("app.conf.update(load())\n", "-c 4"),
        ("app.config_from_object('elsewhere.config')\n", "-c 4"),
        ("app.config_from_envvar('CONFIG')\n", "-c 4"),
    ],
)
def test_a_window_that_depends_on_the_run_is_no_number(settings, command):
    files = {"shop/celery.py": APP + settings, "Procfile": f"w: celery -A shop worker {command}\n"}
    assert consumers(files) == []


def test_two_apps_do_not_share_settings():
    """The command of one is not sized by the multiplier of the other."""
    files = {
        "mail/mail/celery.py": APP + "app.conf.worker_prefetch_multiplier = 1\n",
        "shop/shop/celery.py": APP + "app.conf.worker_prefetch_multiplier = 10\n",
        "mail/Procfile": "mail: celery -A mail worker -c 2\n",
        "shop/Procfile": "shop: celery -A shop worker -c 2\n",
        "Procfile": "x: celery -A other worker -c 2\ny: celery -A shop worker -c 3\n",
    }
    found = {f.subject: f.prefetch.value for f in consumers(files) if f.prefetch}
    assert found == {"mail": 2, "shop": 20, "y": 30}


@pytest.mark.parametrize(
    "text", ["print 'celery'\n", "import {{ name }}.celery\n", "celery\0", "(" * 300]
)
def test_python_that_this_python_does_not_read_is_a_note(text):
    """A template, another Python: for whoever runs it, it may be right."""
    with written({"tasks.py": "# celery\n" + text}) as root:
        read = run.read(["."], root, Settings(base=root))
    assert read.facts == []
    assert [note.partition(":")[0] for note in read.notes] == ["tasks.py"]


@pytest.mark.parametrize("namespace", [None, "CELERY", "CELERY_", "JOBS", "jobs"])
@pytest.mark.parametrize("setting", ["worker_prefetch_multiplier", "task_acks_late"])
def test_names_are_read_as_celery_reads_them(namespace, setting, monkeypatch):
    """Against Celery itself."""
    import sys
    from types import ModuleType

    celery = pytest.importorskip("celery")
    tried = {setting, setting.upper(), names.MISTAKEN and f"CELERY_{setting.upper()}"}
    tried |= {f"JOBS_{setting.upper()}", f"jobs_{setting}", f"CELERY_{setting}"}
    tried |= {"CELERYD_PREFETCH_MULTIPLIER", "CELERY_ACKS_LATE", *names.MISTAKEN}
    for name in tried:
        module = ModuleType("settings_to_try")
        setattr(module, name, 7)
        monkeypatch.setitem(sys.modules, "settings_to_try", module)
        app = celery.Celery("try", set_as_current=False)
        app.config_from_object("settings_to_try", namespace=namespace)
        read = app.conf[setting] in (7, True)
        ours = names.canonical(name, frozenset([namespace or ""])) == setting
        assert read == ours, name
