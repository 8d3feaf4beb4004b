"""Rules for Celery's workers, Airflow's and dramatiq's, on the situations people met."""

from __future__ import annotations

import pytest
from test_celery_settings import APP, DJANGO, codes, consumers
from told import lint_text

from prefetch_advisor.model.advice import Severity

LONG = "app.conf.task_time_limit = 2 * 60 * 60\n"
LATE = "app.conf.task_acks_late = True\n"
ONE = "app.conf.worker_prefetch_multiplier = 1\n"
COUNTDOWN = "def later():\n    remind.apply_async(countdown=600)\n"
QUORUM = 'app.conf.task_default_queue_type = "quorum"\n'


def project(settings: str = "", command: str = "", **more: str) -> dict[str, str]:
    files = {"shop/celery.py": APP + settings}
    if command:
        files["Procfile"] = f"w: celery -A shop worker {command}\n"
    return files | more


# C077, F40: multiplier 4 by default, 8 processes, tasks of long: 32, not 32 x 4


def test_long_tasks_with_the_default_multiplier_are_told_with_the_whole_window():
    (found,) = lint_text(project("app.conf.task_time_limit = 3600\n", "-c 8"))
    assert (found.finding.code, found.place.line) == ("PA351", 3)
    assert found.severity is Severity.INFO
    assert "32 messages (multiplier 4 x 8 processes)" in found.finding.message
    assert "1 h" in found.finding.message


def test_where_the_number_of_processes_is_not_known_the_window_is_a_factor():
    (found,) = lint_text(project("app.conf.task_time_limit = 3600\n", "-l info"))
    assert "4 x its number of processes" in found.finding.message


@pytest.mark.parametrize(
    ("settings", "command", "where"),
    [
        ("app.conf.worker_prefetch_multiplier = 4\n" + LONG, "-c 8", ("shop/celery.py", 3)),
        (LONG, "-c 8 --prefetch-multiplier 2", ("Procfile", 1)),
        (
            "app.conf.worker_prefetch_multiplier = 2\napp.conf.task_soft_time_limit = 7200\n",
            "",
            ("shop/celery.py", 3),
        ),
        (
            "app.conf.worker_prefetch_multiplier = 2\n"
            "@app.task(time_limit=timedelta(hours=2).total_seconds())\ndef f(): pass\n",
            "",
            ("shop/celery.py", 3),
        ),
        (
            "app.conf.worker_prefetch_multiplier = 2\n"
            "class Long(app.Task):\n    soft_time_limit = 7200\n",
            "",
            ("shop/celery.py", 3),
        ),
    ],
)
def test_a_chosen_multiplier_with_long_tasks_is_a_warning_where_it_is_chosen(
    settings, command, where
):
    (found,) = lint_text(project(settings, command))
    assert (found.finding.code, found.severity) == ("PA351", Severity.WARNING)
    assert (found.place.path, found.place.line) == where


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ("", "-c 8"),  # C091, C113: how long tasks take is not said
        ("app.conf.task_time_limit = 1800\n", "-c 8"),
        ("app.conf.task_time_limit = int(os.environ['LIMIT'])\n", "-c 8"),
        ("app.conf.task_time_limit = 7200\napp.conf.task_soft_time_limit = 600\n", "-c 8"),
        (LONG, "-c 8 --prefetch-multiplier $M"),
        (LONG + "app.conf.worker_prefetch_multiplier = env.int('M')\n", "-c 8"),
        (LONG, "-c 8 $OPTIONS"),
        ("app.conf.task_time_limit = None\n", "-c 8"),
        # C289: late ack and multiplier 1 is what is advised
        (ONE + LATE + "app.conf.task_time_limit = 1500\n", "-c 1"),
    ],
)
def test_what_is_not_known_to_be_long_is_silent(settings, command):
    assert codes(project(settings, command)) == []


def test_a_declared_queue_tells_how_long_the_tasks_of_its_worker_take():
    """F40: 32 messages of ten minutes each, four deep for each process."""
    declared = "[[queues]]\nname = 'reports'\nprocessing-time = '10min'\n"
    more = {"prefetch-advisor.toml": declared}
    large, late = lint_text(project(LATE, "-c 8 -Q reports", **more))
    assert (large.finding.code, late.finding.code) == ("PA304", "PA309")
    for found in (large, late):
        assert found.place.path == "Procfile"
        assert "prefetch 32" in found.finding.message
    assert codes(project(LATE + ONE, "-c 8 -Q reports", **more)) == []
    assert codes(project(LATE, "-c 8 -Q mails", **more)) == []


def test_a_window_beyond_the_protocol_is_an_error():
    """kombu would switch the limit off."""
    assert codes(project("", "-P gevent -c 20000")) == [("PA326", "Procfile", 1)]


# C079: early ack with multiplier 1 holds twice the processes


@pytest.mark.parametrize("late", ["", "app.conf.task_acks_late = False\n"])
def test_early_ack_with_multiplier_one_holds_two_for_each_process(late):
    (found,) = lint_text(project(ONE + late + LONG, "-c 8"))
    assert (found.finding.code, found.place.line) == ("PA353", 3)
    assert "holds 16 messages" in found.finding.message
    assert found.severity is Severity.INFO


# a task that is acked late and runs longer than the broker waits


@pytest.mark.parametrize(
    "settings",
    [
        LATE + ONE + "app.conf.task_time_limit = 1801\n",
        ONE + "@app.task(acks_late=True, time_limit=2000)\ndef f(): pass\n",
        ONE + "app.conf.task_time_limit = 1900\n@app.task(acks_late=True)\ndef f(): pass\n",
        LATE + ONE + "@shared_task(soft_time_limit=1900, time_limit=2000)\ndef f(): pass\n",
    ],
)
def test_a_late_ack_after_the_brokers_timeout_is_told_at_the_limit(settings):
    (found,) = lint_text(project(settings))
    assert found.finding.code == "PA352"
    assert "limit" in (APP + settings).split("\n")[found.place.line - 1]
    assert "30 min" in found.finding.message


@pytest.mark.parametrize(
    "settings",
    [
        LATE + ONE + "app.conf.task_time_limit = 1800\n",
        ONE + "@app.task(acks_late=False, time_limit=2000)\ndef f(): pass\n",
        LATE + ONE + "@app.task(acks_late=False, time_limit=2000)\ndef f(): pass\n",
        ONE + "app.conf.task_acks_late = env('LATE')\napp.conf.task_time_limit = 1900\n",
        LATE + ONE + "@app.task(time_limit=1200)\ndef f(): pass\n",
    ],
)
def test_a_task_that_ends_or_is_acked_in_time_is_silent(settings):
    assert codes(project(settings)) == []


def test_the_brokers_own_timeout_takes_the_place_of_the_default():
    """Also where classic queues have none."""

    def compose(image: str, arguments: str = "") -> dict[str, str]:
        environment = f"\n    environment: {{ERL: '{arguments}'}}" if arguments else ""
        return {"compose.yml": f"services:\n  r:\n    image: rabbitmq:{image}{environment}\n"}

    files = project(LATE + ONE + "app.conf.task_time_limit = 2700\n")
    files["airflow/airflow.cfg"] = AIRFLOW.replace(
        "[core]\n", "[core]\ndefault_task_execution_timeout = 2700\n"
    )
    assert [code for code, *_ in codes(files)] == ["PA361", "PA352"]
    for silent in (
        compose("3.13", "-rabbit consumer_timeout 3600000"),
        compose("3.13", "-rabbit  consumer_timeout undefined"),
        compose("4.3"),
    ):
        assert codes(files | silent) == []
    assert len(codes(files | compose("4.2"))) == 2
    (found, _) = lint_text(files | compose("4.2", "-rabbit consumer_timeout 2400000"))
    assert "waits 40 min" in found.finding.message


# C081, C083, C085, C087, F42: countdowns


def test_countdowns_are_told_once_at_the_first_of_them():
    files = project("", "", **{"shop/tasks.py": "# celery\n" + COUNTDOWN * 3})
    (found,) = lint_text(files)
    assert (found.finding.code, found.severity) == ("PA354", Severity.INFO)
    assert (found.place.path, found.place.line) == ("shop/tasks.py", 3)
    assert "3 places" in found.finding.message


@pytest.mark.parametrize(
    "call",
    [
        "f.apply_async(eta=when)",
        "f.apply_async(args=(1,), countdown=60)",
        "self.retry(countdown=2 ** self.request.retries)",
        "app.send_task('x', countdown=5)",
        "f.s(1).set(countdown=5)",
        "f.signature((1,), eta=when)",
    ],
)
def test_every_way_to_delay_a_task_is_seen(call):
    assert codes(project(call + "\n")) == [("PA354", "shop/celery.py", 3)]


@pytest.mark.parametrize(
    "more",
    [
        "f.apply_async(countdown=None)\n",
        "f.apply_async(countdown=0)\n",
        "f.delay(countdown=5)\n",
        COUNTDOWN + "app.conf.worker_eta_task_limit = 100\n",
        COUNTDOWN + "app.conf.update(load())\n",
        'app.conf.broker_url = "redis://r"\n' + COUNTDOWN,
    ],
)
def test_no_delay_a_bounded_one_and_one_elsewhere_are_silent(more):
    assert codes(project(more)) == []


def test_on_quorum_queues_countdowns_starve_the_worker_unless_the_broker_delays_them():
    """Also where the queue is declared, and as the app's default exchange says."""
    declared = (
        "from kombu import Exchange, Queue\n"
        'app.conf.task_queues = [Queue("a"EXCHANGE, queue_arguments={"x-queue-type": "quorum"})]\n'
    )
    starved = [("PA355", "shop/celery.py", 6)]
    for exchange, expected in {
        "": starved,
        ', Exchange("x")': starved,
        ', exchange=Exchange("x", type="direct")': starved,
        ', Exchange("x", type="topic")': [],
        ', Exchange("x", "fanout")': [],
        ', Exchange("x", type=KIND)': [],
        ", exchange": [],
    }.items():
        files = project(declared.replace("EXCHANGE", exchange) + COUNTDOWN)
        assert codes(files) == expected, exchange
    assert codes(project(QUORUM + "\n" + COUNTDOWN)) == starved
    topic = 'app.conf.task_default_exchange_type = "topic"\n'
    assert codes(project(QUORUM + topic + COUNTDOWN)) == []


@pytest.mark.parametrize(
    ("image", "kombu", "code"),
    [
        ("4.3.1", "kombu==5.5.0", "PA355"),
        ("4-management", "kombu==5.7.0", "PA355"),
        ("4.1", "celery>=5.7", "PA355"),
        ("4.1", "celery==5.6.0", "PA354"),
        ("3.13", "kombu==5.7.0", "PA354"),
        ("latest", "kombu==5.7.0", "PA354"),
        ("4.1", "kombu>=5.5", "PA354"),
    ],
)
def test_whether_the_window_grows_or_starves_is_a_matter_of_versions(image, kombu, code):
    more = {
        "compose.yml": f"services:\n  r:\n    image: rabbitmq:{image}\n",
        "requirements.txt": f"{kombu}\n",
    }
    assert [found for found, *_ in codes(project(COUNTDOWN, **more))] == [code]


# C089: Celery is no proof of RabbitMQ


def test_on_sqs_nothing_of_rabbitmq_is_said():
    settings = "BROKER_TRANSPORT = 'sqs'\nCELERYD_PREFETCH_MULTIPLIER = 1\n"
    calls = "from celery import shared_task\n" + COUNTDOWN
    assert codes({"settings.py": settings, "tasks.py": calls}) == []


def test_what_holds_for_rabbitmq_only_needs_a_broker_that_is_known():
    app = 'from celery import Celery\napp = Celery("shop", broker=os.environ["BROKER"])\n'
    text = app + LATE + LONG + ONE + "app.conf.worker_disable_prefetch = True\n" + COUNTDOWN
    assert codes({"shop.py": text}) == []
    known = {"compose.yml": "services:\n  w:\n    environment:\n      BROKER_URL: amqp://r\n"}
    known["compose.yml"] += "    command: celery -A shop worker\n"
    found = {code for code, *_ in codes({"shop.py": text} | known)}
    assert found == {"PA352", "PA354", "PA357"}
    by_name = {"shop.py": text.replace("BROKER", "CLOUDAMQP_URL")}
    assert {code for code, *_ in codes(by_name)} == {"PA352", "PA354", "PA357"}
    both = {".env": "CELERY_BROKER_URL=redis://localhost\n"}
    assert codes({"shop.py": text} | known | both) == []


def test_an_address_of_a_broker_with_its_password_is_never_told():
    url = "amqp://user:hunter2@rabbit//"
    files = {
        "shop.py": f"from celery import Celery\napp = Celery('shop', broker='{url}')\n"
        + LATE + LONG + COUNTDOWN + "app.conf.worker_disable_prefetch = True\n",
        "Procfile": f"w: BROKER_URL={url} celery -A shop -b {url} worker --prefetch-multiplier 0\n",
        "airflow.cfg": f"[celery]\nbroker_url = {url}\nworker_prefetch_multiplier = 9\n",
    }  # fmt: skip
    found = lint_text(files)
    assert len(found) >= 5
    assert "hunter2" not in "".join(str(each.finding) for each in found)


# options and names


def test_disable_prefetch_is_ignored_on_rabbitmq_in_both_forms():
    settings = "app.conf.worker_disable_prefetch = True\n"
    assert codes(project(settings)) == [("PA357", "shop/celery.py", 3)]
    assert codes(project("", "--disable-prefetch -c 4")) == [("PA357", "Procfile", 1)]
    assert codes(project("app.conf.worker_disable_prefetch = False\n")) == []


@pytest.mark.parametrize(
    ("celery", "said"),
    [("celery==4.4.7", "takes away the limit"), ("celery~=5.3", "4 where there is none")],
)
def test_what_a_zero_does_on_the_command_line_is_a_matter_of_versions(celery, said):
    files = {"Procfile": "w: celery -A x worker --prefetch-multiplier 0\n"}
    (found,) = lint_text(files | {"requirements/base.txt": f"{celery}  # why\n"})
    assert said in found.finding.message


@pytest.mark.parametrize(
    ("name", "app"),
    [
        ("CELERY_PREFETCH_MULTIPLIER", DJANGO),
        ("CELERY_WORKER_PREFETCH_MULTIPLIER", DJANGO.replace(', namespace="CELERY"', "")),
        ("CELERY_TASK_ACKS_LATE", DJANGO.replace("CELERY", "JOBS")),
        ("CELERYD_ACKS_LATE", DJANGO),
    ],
)
def test_a_name_that_celery_does_not_read_is_told_where_it_stands(name, app):
    files = {"shop/settings.py": f"DEBUG = False\n{name} = 1\n", "shop/celery.py": app}
    assert codes(files) == [("PA358", "shop/settings.py", 2)]


@pytest.mark.parametrize(
    ("name", "app"),
    [
        ("CELERY_WORKER_PREFETCH_MULTIPLIER", DJANGO),
        ("CELERYD_PREFETCH_MULTIPLIER", DJANGO),
        ("CELERYD_PREFETCH_MULTIPLIER", DJANGO.replace(', namespace="CELERY"', "")),
        ("CELERY_PREFETCH_MULTIPLIER", DJANGO.replace('"CELERY"', "NAMESPACE")),
        ("CELERY_PREFETCH_MULTIPLIER", APP),  # nothing reads the file
        (
            "CELERY_PREFETCH_MULTIPLIER",
            DJANGO + "app.conf.worker_prefetch_multiplier = settings.CELERY_PREFETCH_MULTIPLIER\n",
        ),
        ("CELERY_RESULT_BACKEND", DJANGO),
    ],
)
def test_a_name_that_is_read_or_may_be_is_silent(name, app):
    assert codes({"shop/settings.py": f"{name} = 1\n", "shop/celery.py": app}) == []


@pytest.mark.parametrize(
    "settings",
    [
        "app.conf.broker_transport_options = {'visibility_timeout': 7200}\n",
        "app.conf.update(broker_transport_options={'visibility_timeout': HOUR})\n",
        "BROKER_TRANSPORT_OPTIONS = {'visibility_timeout': 7200}\n",
    ],
)
def test_a_visibility_timeout_is_none_of_rabbitmqs(settings):
    assert codes(project(settings)) == [("PA358", "shop/celery.py", 3)]
    redis = {"shop.py": (APP + settings).replace("amqp:", "redis:")}
    assert codes(redis) == []
    assert codes(project(settings.replace("visibility_timeout", "confirm_publish"))) == []
    text = AIRFLOW + "[celery_broker_transport_options]\nvisibility_timeout = 21600\n"
    assert codes({"airflow.cfg": text}) == [("PA358", "airflow.cfg", 7)]
    assert codes({"airflow.cfg": text.replace("amqp", "redis")}) == []


# quorum queues: a window for each queue, and autoscaling


def test_a_worker_of_several_queues_has_a_window_on_each():
    files = project(QUORUM, "-c 8 -Q a,b,c")
    (found,) = lint_text(files)
    assert (found.finding.code, found.place.path) == ("PA359", "Procfile")
    assert "3 queues x 32 messages (multiplier 4 x 8 processes) = 96" in found.finding.message
    assert codes(project(QUORUM, "-c 8 -Q a")) == []
    assert codes(project("", "-c 8 -Q a,b,c")) == []
    old = {"requirements.txt": "celery==5.4.0\n"}
    assert codes(project(QUORUM, "-c 8 -Q a,b,c", **old)) == []


@pytest.mark.parametrize(
    ("settings", "versions", "broken"),
    [
        ("", "celery==5.4.0\nkombu==5.3.4\n", True),
        ("", "celery==5.4.0\n", False),  # kombu may be 5.7
        ("", "celery==5.5.0\nkombu==5.5.0\n", False),
        ("", "", False),
        ("app.conf.worker_detect_quorum_queues = False\n", "kombu==5.5.0\n", True),
        ("app.conf.worker_detect_quorum_queues = False\n", "kombu==5.7.0\n", False),
        ("app.conf.worker_detect_quorum_queues = env('X')\n", "kombu==5.5.0\n", False),
    ],
)
def test_quorum_queues_refuse_the_window_of_a_channel(settings, versions, broken):
    found = codes(project(QUORUM + settings, **{"requirements.txt": versions}))
    assert found == ([("PA310", "shop/celery.py", 3)] if broken else [])
    rabbit = {"compose.yml": "services:\n  r: {image: 'rabbitmq:3.13'}\n"}
    old = codes(project(QUORUM + settings, **rabbit, **{"requirements.txt": versions}))
    assert bool(old) == (broken or "celery==5.4" in versions or "= False" in settings)


def test_autoscale_on_quorum_queues_is_told_with_what_it_holds():
    (found,) = lint_text(project(QUORUM, "--autoscale 20,2"))
    assert found.finding.code == "PA356"
    assert "80 messages (multiplier 4 x 20 processes)" in found.finding.message
    assert codes(project("", "--autoscale 20,2")) == []


# C093: Airflow

AIRFLOW = "[core]\nexecutor = CeleryExecutor\n\n[celery]\nbroker_url = amqp://rabbit//\n"
COMPOSE = (
    "x-env: &env\n"
    "  AIRFLOW__CELERY__BROKER_URL: amqp://rabbit\n"
    "  AIRFLOW__CELERY__WORKER_PREFETCH_MULTIPLIER: 8\n"
    "services:\n"
    "  worker: {environment: *env}\n"
    "  scheduler: {environment: {<<: *env, A: b}}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("airflow.cfg", AIRFLOW + "worker_prefetch_multiplier = 8\n", 6),
        ("compose.yml", COMPOSE, 3),
        (
            "Dockerfile",
            "FROM apache/airflow\nENV AIRFLOW__CELERY__BROKER_URL=pyamqp://r \\\n"
            "    AIRFLOW__CELERY__WORKER_PREFETCH_MULTIPLIER=8\n",
            3,
        ),
        (
            "k8s.yaml",
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  AIRFLOW__CELERY__BROKER_URL: amqp://r\n"
            '  AIRFLOW__CELERY__WORKER_PREFETCH_MULTIPLIER: "8"\n',
            5,
        ),
        (
            ".env",
            "AIRFLOW__CELERY__BROKER_URL=amqp://r\nAIRFLOW__CELERY__WORKER_PREFETCH_MULTIPLIER=8\n",
            2,
        ),
    ],
)
def test_a_multiplier_of_airflow_is_told_in_every_form(name, text, line):
    assert codes({name: text}) == [("PA360", name, line)]
    for other in ("1", "${M:-8}"):
        assert codes({name: text.replace(" 8\n", f" {other}\n").replace("=8\n", f"={other}\n")
                     .replace('"8"', f'"{other}"')}) == []  # fmt: skip
    assert codes({name: text.replace("pyamqp", "redis").replace("amqp", "redis")}) == []


def test_airflow_runs_on_redis_unless_it_is_told():
    text = "[celery]\nworker_prefetch_multiplier = 8\n[core]\n"
    assert codes({"airflow.cfg": text + "default_task_execution_timeout = 9000\n"}) == []


def test_a_task_of_airflow_that_runs_longer_than_the_broker_waits():
    text = AIRFLOW.replace("[core]\n", "[core]\ndefault_task_execution_timeout = 3600\n")
    (found,) = lint_text({"airflow.cfg": text})
    assert (found.finding.code, found.place.line) == ("PA361", 2)
    assert codes({"airflow.cfg": text + "task_acks_late = False\n"}) == []
    assert codes({"airflow.cfg": text.replace("3600", "1800")}) == []
    assert codes({"airflow.cfg": text.replace("3600", "{{ timeout }}")}) == []


def test_the_window_of_airflow():
    files = {"airflow.cfg": AIRFLOW + "worker_prefetch_multiplier = 2\nworker_concurrency = 4\n"}
    (found,) = consumers(files)
    assert found.prefetch is not None
    assert (found.client, found.prefetch.value, found.prefetch.place.line) == ("Airflow", 8, 6)
    (found,) = consumers({"airflow.cfg": AIRFLOW + "worker_prefetch_multiplier = 0\n"})
    assert found.prefetch is not None
    assert found.prefetch.value == 0
    own = 'extra_celery_config = {"worker_prefetch_multiplier": 1}\n'
    assert consumers({"airflow.cfg": files["airflow.cfg"] + own}) == []


# C095: dramatiq


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (".env", "A=b\ndramatiq_queue_prefetch=0\n", 2),
        ("Procfile", "w: dramatiq_delay_queue_prefetch=0 dramatiq shop.tasks\n", 1),
        ("Dockerfile", "FROM x\nENV dramatiq_queue_prefetch 0\n", 2),
        ("run.sh", "export dramatiq_queue_prefetch=0\nexec dramatiq shop.tasks\n", 1),
        ("shop.service", "[Service]\nEnvironment=dramatiq_queue_prefetch=0\nExecStart=x\n", 2),
        ("compose.yml", "services:\n  w:\n    environment:\n      dramatiq_queue_prefetch: 0\n", 4),
        ("shop.py", "import os, dramatiq\nos.environ['dramatiq_queue_prefetch'] = '0'\n", 2),
        ("shop.py", "import os\nos.environ.setdefault('dramatiq_queue_prefetch', '0')\n", 2),
    ],
)
def test_a_prefetch_of_zero_is_none_for_dramatiq(name, text, line):
    assert codes({name: text}) == [("PA362", name, line)]
    assert codes({name: text.replace("0", "16")}) == []
    upper = text.replace("dramatiq_queue", "DRAMATIQ_QUEUE").replace("dramatiq_delay", "DRAMATIQ_D")
    if "DRAMATIQ_QUEUE" in upper:
        assert codes({name: upper}) == [("PA358", name, line)]


@pytest.mark.parametrize(
    ("command", "window"),
    [
        ("dramatiq shop.tasks", (16, 8)),
        ("dramatiq shop.tasks -p 2 -t 4", (8, 4)),
        ("dramatiq_queue_prefetch=3 dramatiq shop.tasks --threads=4", (3, 4)),
        ("dramatiq_queue_prefetch=0 dramatiq shop.tasks --threads=4", (8, 4)),
        ("dramatiq shop.tasks -t $THREADS", None),
        ("pip install dramatiq shop", None),
    ],
)
def test_the_window_of_a_dramatiq_process_for_each_queue(command, window):
    found = consumers({"run.sh": command + "\n"})
    windows = [(f.prefetch and f.prefetch.value, f.concurrency and f.concurrency.value)
               for f in found]  # fmt: skip
    assert windows == ([window] if window else [])


def test_fewer_messages_than_threads_starve_dramatiq():
    assert codes({"run.sh": "dramatiq_queue_prefetch=3 dramatiq x -t 8\n"}) == [
        ("PA319", "run.sh", 1)
    ]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("celery==5.3.1", ((5, 3, 1), (5, 3, 2))),
        ("celery[redis]==5.3.*", ((5, 3), (5, 4))),
        ("Celery>=5.2,<6", ((5, 2), (6,))),
        ("celery ~= 5.4.0 ; python_version > '3.8'", ((5, 4, 0), (5, 5))),
        ("celery", ((), ())),
        ("celery>5.1 # not 5.1", ((5, 1), ())),
    ],
)
def test_versions_of_requirements(said, expected):
    from told import facts_in

    from prefetch_advisor.lint.kinds.celery.facts import Package

    (found,) = facts_in({"requirements.txt": said + "\n"})
    assert isinstance(found, Package)
    assert (found.at_least, found.below) == expected
    assert (
        facts_in({"requirements.txt": "celery-redbeat==1\ndjango-celery==2\ncelery @ git+x\n"})
        == []
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("poetry.lock", '[[package]]\nname = "celery"\nversion = "5.4.0"\n'),
        ("uv.lock", '[[package]]\nname = "celery"\nversion = "5.4.0"\nsource = {}\n'),
        ("Pipfile.lock", '{"default": {"celery": {"hashes": [], "version": "==5.4.0"}}}'),
        ("pyproject.toml", '[project]\ndependencies = ["celery==5.4.0"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\ncelery = "5.4.0"\n'),
        ("Pipfile", '[packages]\ncelery = {version = "==5.4.0", extras = ["redis"]}\n'),
    ],
)
def test_a_lock_file_and_a_list_of_dependencies_tell_the_version(name, text):
    files = project(QUORUM, "-c 8 -Q a,b")
    assert codes(files) != []
    # before 5.5 quorum queues are not known to make the window static; ^5.4 may be later
    expected = [] if 'celery = "5' not in text else codes(files)
    assert codes(files | {name: text}) == expected


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("rabbitmq.conf", "consumer_timeout = 3600000\n", []),
        ("rabbitmq.conf", "consumer_timeout = 900000\n", ["PA352"]),
        ("advanced.config", "[{rabbit, [{consumer_timeout, 3600000}]}].\n", []),
        ("advanced.config", "[{rabbit, [{consumer_timeout, undefined}]}].\n", []),
    ],
)
def test_the_brokers_own_file_says_how_long_it_waits_for_an_ack(name, text, told):
    tasks = LATE + ONE + "app.conf.task_time_limit = 45 * 60\n"
    assert [each[0] for each in codes(project(tasks, "-c 1"))] == ["PA352"]
    found = lint_text(project(tasks, "-c 1", **{name: text}))
    assert [one.finding.code for one in found if one.finding.code < "PA400"] == told
