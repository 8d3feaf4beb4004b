"""PA350 to PA364: workers of Celery, of Airflow's Celery executor, and of dramatiq."""

from prefetch_advisor.findings.rule import CONSUMERS, PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

_CELERY = "https://docs.celeryq.dev/en/stable/"
_OPTIMIZING = _CELERY + "userguide/optimizing.html#prefetch-limits"
_SETTINGS = _CELERY + "userguide/configuration.html"
_CALLING = _CELERY + "userguide/calling.html#eta-and-countdown"
_QUORUM = _CELERY + "getting-started/backends-and-brokers/rabbitmq.html#using-quorum-queues"
_AIRFLOW = "https://airflow.apache.org/docs/apache-airflow-providers-celery/stable/"
_DRAMATIQ = "https://dramatiq.io/reference.html#environment-variables"

_APP = 'from celery import Celery\n\napp = Celery("shop", broker="amqp://rabbit//")\n'
_QUORUM_APP = _APP + 'app.conf.task_default_queue_type = "quorum"\n'

MULTIPLIER_OPTION = Rule(
    "PA350",
    "multiplier-option-ignored",
    Severity.WARNING,
    "--prefetch-multiplier 0 on the command line of a Celery worker is not what it takes.",
    "Since Celery 5 a zero there counts as not given: the setting is in force, 4 by default. "
    "Before, it took away the limit.",
    "Give the number that is meant; 1 is the least.",
    "worker: celery -A shop worker -c 8 --prefetch-multiplier 0\n",
    "worker: celery -A shop worker -c 8 --prefetch-multiplier 1\n",
    _OPTIMIZING,
    file="Procfile",
)
LONG_TASKS = Rule(
    "PA351",
    "multiplier-with-long-tasks",
    Severity.WARNING,
    "Workers of tasks that may run for an hour or more hold several messages for each process.",
    "What a worker has prefetched waits behind its long tasks while other workers are idle, and "
    "waits unacked: after 30 minutes the broker closes the channel and delivers all of it again.",
    "Set worker_prefetch_multiplier = 1 and task_acks_late = True, with a consumer-timeout of the "
    "queue above the longest; split the tasks, or give the long ones workers of their own.",
    'broker_url = "amqp://rabbit//"\n'
    "worker_prefetch_multiplier = 4\ntask_time_limit = 2 * 60 * 60\n",
    'broker_url = "amqp://rabbit//"\n'
    "worker_prefetch_multiplier = 1\ntask_acks_late = True\ntask_time_limit = 20 * 60\n",
    _OPTIMIZING,
    file="celeryconfig.py",
)
TASK_OUTLIVES_TIMEOUT = Rule(
    "PA352",
    "task-outlives-ack-timeout",
    Severity.WARNING,
    "A task that is acked after its work may run longer than the broker waits for the ack.",
    "The delivery acknowledgement timeout is 30 minutes by default. When it runs out, the channel "
    "is closed (from RabbitMQ 4.3 on, quorum queues only, the message goes back) and the task, "
    "still running, is delivered again: it never ends.",
    "Limit the task's time below the timeout, split it, or raise the queue's timeout by a policy "
    "(consumer-timeout).",
    _APP + "app.conf.task_acks_late = True\n"
    "app.conf.worker_prefetch_multiplier = 1\n"
    "app.conf.task_time_limit = 45 * 60\n",
    _APP + "app.conf.task_acks_late = True\n"
    "app.conf.worker_prefetch_multiplier = 1\n"
    "app.conf.task_time_limit = 20 * 60\n",
    CONSUMERS + "#acknowledgement-timeout",
    file="tasks.py",
)
EARLY_ACK_LONG_TASKS = Rule(
    "PA353",
    "early-ack-of-long-tasks",
    Severity.INFO,
    "With multiplier 1 and acks before the work, a worker holds two messages for each process.",
    "The ack of a running task frees its slot: the next message waits behind it for as long as it "
    "runs, while other workers may be idle; a crash loses the running one.",
    "Split the tasks; or set task_acks_late = True if they may run twice, with a consumer-timeout "
    "of the queue above the longest.",
    'broker_url = "amqp://rabbit//"\n'
    "worker_prefetch_multiplier = 1\ntask_acks_late = False\ntask_time_limit = 2 * 60 * 60\n",
    'broker_url = "amqp://rabbit//"\n'
    "worker_prefetch_multiplier = 1\ntask_acks_late = True\ntask_time_limit = 20 * 60\n",
    _OPTIMIZING,
    file="celeryconfig.py",
)
COUNTDOWN_HELD = Rule(
    "PA354",
    "countdown-held-by-worker",
    Severity.INFO,
    "Tasks with a countdown or an ETA are held by a worker, unacked, until they are due.",
    "For each of them the worker asks for a message more, without a limit unless "
    "worker_eta_task_limit is set: a backlog of delayed tasks moves into one process, and beyond "
    "65,535 the prefetch is switched off. Where the prefetch cannot change (RabbitMQ 4.3, kombu "
    "5.7 on RabbitMQ 4) they fill it instead, and the worker idles. Those due after more than 30 "
    "minutes meet the broker's ack timeout.",
    "Set worker_eta_task_limit (Celery 5.6), keep countdowns short, and give delayed tasks a queue "
    "and workers of their own.",
    _APP + "\n\ndef later(order):\n    remind.apply_async((order,), countdown=600)\n",
    _APP + "app.conf.worker_eta_task_limit = 1000\n\n\n"
    "def later(order):\n    remind.apply_async((order,), countdown=600)\n",
    _CALLING,
    file="tasks.py",
)
COUNTDOWN_STARVES = Rule(
    "PA355",
    "countdown-starves-worker",
    Severity.WARNING,
    "Tasks with a countdown or an ETA fill a window that cannot grow.",
    "A worker holds them unacked until they are due. On quorum queues its prefetch cannot change "
    "while it runs, and with a direct exchange, the default, Celery's native delayed delivery is "
    "not used: as soon as the window is full of waiting tasks, nothing is worked on.",
    'Set task_default_exchange_type = "topic", with which Celery 5.5 delays in the broker on '
    "quorum queues; else send delayed tasks to a queue and workers of their own.",
    _QUORUM_APP + "\n\ndef later(order):\n    remind.apply_async((order,), countdown=600)\n",
    _QUORUM_APP + 'app.conf.task_default_exchange_type = "topic"\n\n\n'
    "def later(order):\n    remind.apply_async((order,), countdown=600)\n",
    _QUORUM,
    file="tasks.py",
)
AUTOSCALE_STATIC = Rule(
    "PA356",
    "autoscale-with-static-window",
    Severity.WARNING,
    "A worker with --autoscale reads a queue on which its prefetch cannot change.",
    "It takes messages for its greatest number of processes from the start, however few run; on "
    "quorum queues Celery lists autoscaling among what does not work.",
    "Give a fixed --concurrency, and scale the number of workers.",
    _QUORUM_APP + 'app.worker_main(["worker", "--autoscale=20,2"])\n',
    _QUORUM_APP + 'app.worker_main(["worker", "--concurrency=8"])\n',
    _QUORUM,
    file="tasks.py",
)
DISABLE_PREFETCH = Rule(
    "PA357",
    "disable-prefetch-ignored",
    Severity.WARNING,
    "worker_disable_prefetch works with Redis only: on RabbitMQ it is ignored with a warning.",
    "The worker prefetches as if it were not there.",
    "Set worker_prefetch_multiplier = 1 and task_acks_late = True: then a process holds what it "
    "works on, and nothing else.",
    _APP + "app.conf.worker_disable_prefetch = True\n",
    _APP + "app.conf.worker_prefetch_multiplier = 1\napp.conf.task_acks_late = True\n",
    _SETTINGS + "#worker-disable-prefetch",
    file="tasks.py",
)
NOT_READ = Rule(
    "PA358",
    "setting-not-read",
    Severity.WARNING,
    "A setting stands under a name that nothing reads.",
    "It looks like a limit and is none: the default is in force.",
    'Use the name that is read; under config_from_object(..., namespace="CELERY") it is CELERY_ '
    "and today's name in capitals.",
    "from celery import Celery\n\n"
    "CELERY_WORKER_PREFETCH_MULTIPLIER = 1\n\n"
    'app = Celery("shop", broker="amqp://rabbit//")\n'
    'app.config_from_object("celeryconfig")\n',
    "from celery import Celery\n\n"
    "CELERY_WORKER_PREFETCH_MULTIPLIER = 1\n\n"
    'app = Celery("shop", broker="amqp://rabbit//")\n'
    'app.config_from_object("celeryconfig", namespace="CELERY")\n',
    _SETTINGS + "#new-lowercase-settings",
    file="celeryconfig.py",
)
WINDOW_PER_QUEUE = Rule(
    "PA359",
    "window-for-each-queue",
    Severity.INFO,
    "A worker that reads several queues has a window of its own on each of them.",
    "Where the window is not that of the whole channel (quorum queues, RabbitMQ 4.3, kombu 5.7 on "
    "RabbitMQ 4), multiplier x processes counts once for each queue.",
    "Count it so, or start a worker for each queue.",
    _QUORUM_APP + 'app.worker_main(["worker", "-c8", "-Q", "orders,mails,reports"])\n',
    _QUORUM_APP + 'app.worker_main(["worker", "-c8", "-Q", "orders"])\n',
    PREFETCH,
    file="tasks.py",
)
AIRFLOW_MULTIPLIER = Rule(
    "PA360",
    "airflow-multiplier",
    Severity.WARNING,
    "Airflow's workers hold more tasks than they run.",
    "Tasks of Airflow differ by orders of magnitude: those that a worker has prefetched wait "
    "behind a long one while other workers have room.",
    "Leave worker_prefetch_multiplier at 1.",
    "[celery]\nbroker_url = amqp://rabbit//\nworker_prefetch_multiplier = 4\n",
    "[celery]\nbroker_url = amqp://rabbit//\nworker_prefetch_multiplier = 1\n",
    _AIRFLOW + "configurations-ref.html#worker-prefetch-multiplier",
    file="airflow.cfg",
)
AIRFLOW_TIMEOUT = Rule(
    "PA361",
    "airflow-task-outlives-ack-timeout",
    Severity.WARNING,
    "A task of Airflow may run longer than RabbitMQ waits for its ack.",
    "Airflow acks after the work. After 30 minutes, the default, the broker closes the channel "
    "(from 4.3 on, quorum queues only, the message goes back) and delivers the task again.",
    "Raise the queue's timeout above the longest task by a policy (consumer-timeout), or limit the "
    "tasks' time below it.",
    "[core]\ndefault_task_execution_timeout = 7200\n\n[celery]\nbroker_url = amqp://rabbit//\n",
    "[core]\ndefault_task_execution_timeout = 1200\n\n[celery]\nbroker_url = amqp://rabbit//\n",
    CONSUMERS + "#acknowledgement-timeout",
    file="airflow.cfg",
)
DRAMATIQ_ZERO = Rule(
    "PA362",
    "dramatiq-prefetch-zero",
    Severity.WARNING,
    "A prefetch of 0 is what dramatiq takes for none given: twice the number of threads.",
    "It means neither no limit nor no prefetch there.",
    "Give the number that is meant, at least the number of threads, or remove the variable.",
    "worker: dramatiq_queue_prefetch=0 dramatiq shop.tasks\n",
    "worker: dramatiq_queue_prefetch=16 dramatiq shop.tasks\n",
    _DRAMATIQ,
    file="Procfile",
)
RULES = (
    MULTIPLIER_OPTION,
    LONG_TASKS,
    TASK_OUTLIVES_TIMEOUT,
    EARLY_ACK_LONG_TASKS,
    COUNTDOWN_HELD,
    COUNTDOWN_STARVES,
    AUTOSCALE_STATIC,
    DISABLE_PREFETCH,
    NOT_READ,
    WINDOW_PER_QUEUE,
    AIRFLOW_MULTIPLIER,
    AIRFLOW_TIMEOUT,
    DRAMATIQ_ZERO,
)
