"""PA4xx: files of the broker, before a node has read them."""

from prefetch_advisor.findings.rule import CONSUMERS, DOCS, PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

_TIMEOUT = CONSUMERS + "#acknowledgement-timeout"

WRONG_FILE = Rule(
    "PA401",
    "default-prefetch-in-wrong-file",
    Severity.ERROR,
    "The broker's default prefetch is set where it is not read.",
    "rabbitmq.conf has no key for it: a node with such a line does not start. In advanced.config "
    "it belongs to the application rabbit; anywhere else it is no limit at all.",
    "Set {rabbit, [{default_consumer_prefetch, {false, 250}}]} in advanced.config.",
    "consumer_timeout = 1800000\ndefault_consumer_prefetch = 250\n",
    "consumer_timeout = 1800000\n",
    PREFETCH,
    file="rabbitmq.conf",
)
TIMEOUT_TOO_SHORT = Rule(
    "PA402",
    "consumer-timeout-too-short",
    Severity.WARNING,
    "The delivery acknowledgement timeout is shorter than the broker supports.",
    "It runs from the delivery, so it counts what waits in the client's buffer, and is checked "
    "about once a minute. Values under a minute are not supported, under five not recommended.",
    "Set five minutes or more, and lower the prefetch where messages are held for long.",
    "consumer_timeout = 30000\n",
    "consumer_timeout = 1800000\n",
    _TIMEOUT,
    file="rabbitmq.conf",
)
GLOBAL_QOS_PERMITTED = Rule(
    "PA403",
    "global-qos-permitted",
    Severity.WARNING,
    "The node keeps a prefetch that the consumers of a channel share.",
    "It is deprecated: from 4.3 on it is denied unless permitted, and applies to each consumer "
    "instead. Quorum queues and streams close the connection of a channel that has one.",
    "Set a prefetch for each consumer (global false), then remove the permission.",
    "deprecated_features.permit.global_qos = true\n",
    "deprecated_features.permit.global_qos = false\n",
    DOCS + "deprecated-features",
    file="rabbitmq.conf",
)
UNLIMITED_BUFFER = Rule(
    "PA404",
    "buffer-queue-without-length-limit",
    Severity.WARNING,
    "A queue that only collects what went wrong elsewhere, or waits for another broker, has no "
    "limit.",
    "Nothing reads it as it fills: dead letters that nobody takes, or messages for a broker that "
    "cannot be reached, grow until the disk is full, which stops every publisher.",
    "Set x-max-length or x-max-length-bytes (or a policy with max-length), or a message TTL.",
    '{"queues": [\n'
    '  {"vhost": "/", "name": "orders", "durable": true, "auto_delete": false, "arguments":\n'
    '    {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders.dead"}},\n'
    '  {"vhost": "/", "name": "orders.dead", "durable": true, "auto_delete": false,\n'
    '   "arguments": {}}\n'
    "]}\n",
    '{"queues": [\n'
    '  {"vhost": "/", "name": "orders", "durable": true, "auto_delete": false, "arguments":\n'
    '    {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders.dead"}},\n'
    '  {"vhost": "/", "name": "orders.dead", "durable": true, "auto_delete": false,\n'
    '   "arguments": {"x-max-length": 100000}}\n'
    "]}\n",
    DOCS + "maxlength",
    file="definitions.json",
)
TIMEOUT_REFUSED = Rule(
    "PA405",
    "consumer-timeout-refused",
    Severity.ERROR,
    "consumer_timeout is no whole number of milliseconds above 0, or has another name.",
    "A node with such a line in rabbitmq.conf does not start; undefined exists in advanced.config "
    "only.",
    "Set the milliseconds, such as 1800000.",
    "consumer_timeout = undefined\n",
    "consumer_timeout = 1800000\n",
    _TIMEOUT,
    file="rabbitmq.conf",
)
TIMEOUT_DISABLED = Rule(
    "PA406",
    "consumer-timeout-disabled",
    Severity.WARNING,
    "The delivery acknowledgement timeout is switched off.",
    "A consumer that never acks holds its messages, and its share of the prefetch, for ever and "
    "unnoticed. From 4.3.3 on the broker takes it for 24 hours.",
    "Set a number of milliseconds above the longest time that a message is held.",
    "[{rabbit, [{consumer_timeout, undefined}]}].\n",
    "[{rabbit, [{consumer_timeout, 3600000}]}].\n",
    _TIMEOUT,
    file="advanced.config",
)
TIMEOUT_RAISED = Rule(
    "PA407",
    "consumer-timeout-raised",
    Severity.INFO,
    "The delivery acknowledgement timeout is a day or more.",
    "Such values hide a cause: tasks with a countdown that are delivered long before their time, "
    "or a prefetch that makes messages wait in the client. Stuck consumers go unnoticed as long.",
    "Lower the prefetch, or keep delayed work out of the queue; then lower the timeout.",
    "consumer_timeout = 259200000\n",
    "consumer_timeout = 3600000\n",
    _TIMEOUT,
    file="rabbitmq.conf",
)
DEFAULT_MALFORMED = Rule(
    "PA408",
    "default-prefetch-malformed",
    Severity.ERROR,
    "default_consumer_prefetch is not a pair of true or false and a number.",
    "The node starts, and then resets every connection that opens a channel.",
    "Set {default_consumer_prefetch, {false, 250}}.",
    "[{rabbit, [{default_consumer_prefetch, 250}]}].\n",
    "[{rabbit, [{default_consumer_prefetch, {false, 250}}]}].\n",
    PREFETCH,
    file="advanced.config",
)
TIMEOUT_NOT_ENFORCED = Rule(
    "PA409",
    "consumer-timeout-not-enforced",
    Severity.WARNING,
    "A queue's or policy's consumer timeout has no effect in this version of the broker.",
    "From 4.3 on only quorum queues have one: a stuck consumer of a classic queue is never cut "
    "off. Before 3.12 the argument is ignored and the policy refused.",
    "Remove it, or use a quorum queue; watch for consumers that do not ack.",
    '{"rabbit_version": "4.3.0", "queues": [\n'
    '  {"vhost": "/", "name": "orders", "type": "classic",\n'
    '   "arguments": {"x-consumer-timeout": 600000}}]}\n',
    '{"rabbit_version": "4.3.0", "queues": [\n'
    '  {"vhost": "/", "name": "orders", "type": "quorum",\n'
    '   "arguments": {"x-queue-type": "quorum", "x-consumer-timeout": 600000}}]}\n',
    _TIMEOUT,
    file="definitions.json",
)
PRIORITIES_ON_QUORUM = Rule(
    "PA410",
    "max-priority-on-quorum-queue",
    Severity.WARNING,
    "x-max-priority is set on a quorum queue, which does not know it.",
    "The declaration is refused, or the argument is ignored, by version. Quorum queues have two "
    "priorities from 4.0 on and 32 from 4.3 on, without the argument.",
    "Remove the argument, or use a classic queue; keep the prefetch small in either.",
    '{"queues": [{"vhost": "/", "name": "jobs", "durable": true,\n'
    '  "arguments": {"x-queue-type": "quorum", "x-max-priority": 5}}]}\n',
    '{"queues": [{"vhost": "/", "name": "jobs", "durable": true,\n'
    '  "arguments": {"x-queue-type": "classic", "x-max-priority": 5}}]}\n',
    DOCS + "priority",
    file="definitions.json",
)
RULES = (
    WRONG_FILE,
    TIMEOUT_TOO_SHORT,
    GLOBAL_QOS_PERMITTED,
    UNLIMITED_BUFFER,
    TIMEOUT_REFUSED,
    TIMEOUT_DISABLED,
    TIMEOUT_RAISED,
    DEFAULT_MALFORMED,
    TIMEOUT_NOT_ENFORCED,
    PRIORITIES_ON_QUORUM,
)
