"""PA365 to PA379: settings of frameworks and tools other than Celery."""

from prefetch_advisor.findings.rule import CONFIRMS, PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

UNUSED_PREFETCH = Rule(
    "PA365",
    "unused-prefetch-setting",
    Severity.WARNING,
    "A prefetch is set where nothing reads it.",
    "The setting looks like a limit and is none: the consumers run with the default of their "
    "framework, or fetch one message at a time and need none.",
    "Set it where the consumers read it, or remove it.",
    "spring:\n"
    "  rabbitmq.listener.simple.prefetch: 50\n"
    "  cloud.stream.rabbit.bindings.orders-in-0.consumer.max-concurrency: 4\n",
    "spring:\n"
    "  cloud.stream.rabbit.bindings.orders-in-0.consumer:\n"
    "    prefetch: 50\n"
    "    max-concurrency: 4\n",
    PREFETCH,
    file="application.yml",
)
PREFETCH_ABOVE_255 = Rule(
    "PA366",
    "prefetch-above-255",
    Severity.ERROR,
    "Dapr keeps the prefetch of a pub/sub component in eight bits: 255 is the most.",
    "Versions that parse it themselves drop the higher bits, so that 256 is no limit at all; "
    "others refuse the component.",
    "Set prefetchCount to at most 255.",
    "apiVersion: dapr.io/v1alpha1\n"
    "kind: Component\n"
    "metadata:\n"
    "  name: orders\n"
    "spec:\n"
    "  type: pubsub.rabbitmq\n"
    "  version: v1\n"
    "  metadata:\n"
    "    - name: prefetchCount\n"
    '      value: "300"\n',
    "apiVersion: dapr.io/v1alpha1\n"
    "kind: Component\n"
    "metadata:\n"
    "  name: orders\n"
    "spec:\n"
    "  type: pubsub.rabbitmq\n"
    "  version: v1\n"
    "  metadata:\n"
    "    - name: prefetchCount\n"
    '      value: "20"\n',
    PREFETCH,
    file="components/pubsub.yaml",
)
UNDELIVERED_ABOVE_PREFETCH = Rule(
    "PA367",
    "undelivered-above-prefetch",
    Severity.WARNING,
    "Telegraf may keep more messages undelivered than the broker sends it.",
    "A message is acked when its metrics are written. The broker stops at prefetch_count, so "
    "max_undelivered_messages is never reached, and a batch that needs more messages than that "
    "waits for the next flush.",
    "Raise prefetch_count to max_undelivered_messages, or lower the latter.",
    '[[inputs.amqp_consumer]]\n  queue = "telegraf"\n  max_undelivered_messages = 1000\n',
    '[[inputs.amqp_consumer]]\n  queue = "telegraf"\n  prefetch_count = 1000\n'
    "  max_undelivered_messages = 1000\n",
    CONFIRMS + "#channel-qos-prefetch",
    file="telegraf.conf",
)
PREFETCH_ABOVE_BUFFER = Rule(
    "PA368",
    "prefetch-above-metric-buffer",
    Severity.WARNING,
    "Telegraf may read more messages than its buffer holds metrics.",
    "Every message makes at least one metric. Beyond metric_buffer_limit the oldest are dropped, "
    "and their messages rejected: a backlog read in one step is lost.",
    "Keep prefetch_count or max_undelivered_messages at or below metric_buffer_limit divided by "
    "the metrics in a message.",
    "[agent]\n  metric_buffer_limit = 1000\n\n"
    '[[inputs.amqp_consumer]]\n  queue = "telegraf"\n'
    "  prefetch_count = 5000\n  max_undelivered_messages = 5000\n",
    "[agent]\n  metric_buffer_limit = 10000\n\n"
    '[[inputs.amqp_consumer]]\n  queue = "telegraf"\n'
    "  prefetch_count = 1000\n  max_undelivered_messages = 1000\n",
    CONFIRMS + "#channel-qos-prefetch",
    file="telegraf.conf",
)
PREFETCH_ZERO_REFUSED = Rule(
    "PA369",
    "prefetch-zero-refused",
    Severity.ERROR,
    "Logstash's rabbitmq input does not start with a prefetch of 0.",
    "Its own queue has twice prefetch_count places, and Java makes none with 0.",
    "Set prefetch_count to at least 1; the default is 256.",
    'input {\n  rabbitmq {\n    queue => "logs"\n    prefetch_count => 0\n  }\n}\n',
    'input {\n  rabbitmq {\n    queue => "logs"\n    prefetch_count => 256\n  }\n}\n',
    PREFETCH,
    file="pipeline/logs.conf",
)
INTERNAL_QUEUE_BELOW_PREFETCH = Rule(
    "PA370",
    "internal-queue-below-prefetch",
    Severity.WARNING,
    "SmallRye's client keeps fewer messages than the broker may send it.",
    "A delivery that finds its queue full is dropped without a word and stays unacknowledged "
    "until the connection ends: max-incoming-internal-queue-size limits nothing at the broker.",
    "Set max-outstanding-messages to at most max-incoming-internal-queue-size.",
    "mp.messaging.incoming.orders.connector=smallrye-rabbitmq\n"
    "mp.messaging.incoming.orders.max-outstanding-messages=2000\n"
    "mp.messaging.incoming.orders.max-incoming-internal-queue-size=500\n",
    "mp.messaging.incoming.orders.connector=smallrye-rabbitmq\n"
    "mp.messaging.incoming.orders.max-outstanding-messages=200\n"
    "mp.messaging.incoming.orders.max-incoming-internal-queue-size=500\n",
    PREFETCH,
    file="application.properties",
)
RULES = (
    UNUSED_PREFETCH,
    PREFETCH_ABOVE_255,
    UNDELIVERED_ABOVE_PREFETCH,
    PREFETCH_ABOVE_BUFFER,
    PREFETCH_ZERO_REFUSED,
    INTERNAL_QUEUE_BELOW_PREFETCH,
)
