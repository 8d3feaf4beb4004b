"""PA1xx: a queue's consumers.

Reserved by the design and not raised yet: PA109 ack-timeout-risk, PA118 memory-over-budget, PA120
batch-not-below-prefetch, PA121 stream-needs-prefetch.
"""

from prefetch_advisor.findings.rule import CONFIRMS, CONSUMERS, DOCS, PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

UNBOUNDED_PREFETCH = Rule(
    "PA101",
    "unbounded-prefetch",
    Severity.ERROR,
    "A consumer with manual ack and no prefetch takes every message there is.",
    "The backlog moves from the broker into one process: memory grows without bound on both sides, "
    "other consumers get nothing, a crash gives all of it back at once, and the queue looks empty.",
    "Set the prefetch before consuming: basic_qos(prefetch_count=N).",
    "channel.basic_consume('tasks', handle)",
    "channel.basic_qos(prefetch_count=20)\nchannel.basic_consume('tasks', handle)",
    CONFIRMS + "#channel-qos-prefetch",
)
AUTO_ACK = Rule(
    "PA102",
    "auto-ack-ignores-prefetch",
    Severity.ERROR,
    "A consumer with automatic ack is not limited by any prefetch.",
    "The broker sends as fast as the socket takes it and forgets each message as it goes: what the "
    "process holds is lost when it dies, and nothing bounds how much that is.",
    "Use manual ack, after the work, with a prefetch.",
    "channel.basic_qos(prefetch_count=10)\nchannel.basic_consume('tasks', handle, auto_ack=True)",
    "channel.basic_qos(prefetch_count=10)\nchannel.basic_consume('tasks', handle, auto_ack=False)",
    CONFIRMS + "#consumer-acknowledgements",
)
PREFETCH_BELOW_ROUND_TRIP = Rule(
    "PA103",
    "prefetch-below-round-trip",
    Severity.WARNING,
    "The prefetch is too small for the round trip: consumers wait between messages.",
    "A consumer may hold N messages; while an ack travels and the next delivery comes back it "
    "works through N - 1 of them, then idles. More consumers would hide it at a higher price.",
    "Raise the prefetch to the advised value.",
    "prefetch 1, processing 0.6 ms, round trip 11 ms: busy 5 % of the time",
    "prefetch 20: busy 99 % of the time",
    PREFETCH,
)
PREFETCH_TOO_LARGE = Rule(
    "PA104",
    "prefetch-too-large",
    Severity.WARNING,
    "The prefetch is far above what feeding the consumer needs.",
    "Everything above that is backlog in one process: it waits there while other consumers idle, "
    "it cannot be seen as ready, and a crash or a slow message delays all of it.",
    "Lower the prefetch to the advised value.",
    "prefetch 500, processing 200 ms, round trip 1 ms: the last message waits 100 s",
    "prefetch 2: the last message waits 0.2 s, the consumer is as busy",
    CONFIRMS + "#channel-qos-prefetch",
)
ADD_CONSUMERS = Rule(
    "PA105",
    "add-consumers",
    Severity.WARNING,
    "The consumers are busy all the time and more arrives than they can work off.",
    "When the prefetch covers the round trip, unacked that stays at prefetch x consumers means "
    "that processing is the limit: more prefetch only moves backlog into the clients.",
    "Run the advised number of consumers, raise their concurrency, or make a message cheaper.",
    "3 consumers of 20 ms at 180/s: at most 150/s leave, the queue grows by 30/s",
    "5 consumers: 76 % busy",
    CONSUMERS + "#capacity",
)
MORE_CONSUMERS = Rule(
    "PA106",
    "more-consumers-than-needed",
    Severity.INFO,
    "Fewer consumers would carry this load.",
    "Idle consumers cost memory and connections, and hide how much room there is.",
    "Run the advised number of consumers.",
    "20 consumers at a utilisation of 4 %",
    "2 consumers at 40 %",
    CONSUMERS + "#capacity",
)
NO_ACKS = Rule(
    "PA107",
    "no-acks",
    Severity.ERROR,
    "Messages are held unacked and none was acked in the window.",
    "A handler that failed without ack or nack, an ack on another channel, or one task that hangs: "
    "neither more prefetch nor more consumers helps.",
    "Look at the error path of the handler: every delivery must end in ack, nack or reject.",
    "def handle(ch, method, props, body):\n    work(body)  # raises: never acked",
    "def handle(ch, method, props, body):\n    try:\n        work(body)\n    except Exception:\n"
    "        ch.basic_nack(method.delivery_tag, requeue=False)\n    else:\n"
    "        ch.basic_ack(method.delivery_tag)",
    CONFIRMS + "#consumer-acknowledgements",
)
ACKS_HELD = Rule(
    "PA108",
    "acks-held-by-client",
    Severity.WARNING,
    "The round trip that the broker sees is far longer than the one measured on the network.",
    "Acks do not leave when the work is done: an I/O loop that turns only between batches, acks "
    "sent by a timer, or a handler that blocks the loop. The prefetch pays for that delay.",
    "Send acks as soon as the work is done (from the I/O thread, flushed).",
    "pika SelectConnection with the work inside the callback",
    "the work in a thread, the ack by add_callback_threadsafe",
    CONFIRMS + "#consumer-acks-multiple-parameter",
)
ACK_TIMEOUT_RISK = Rule(
    "PA109",
    "ack-timeout-risk",
    Severity.WARNING,
    "A prefetched message may wait so long that the broker takes it back.",
    "The clock of the delivery acknowledgement timeout starts at delivery: the last message of a "
    "full buffer waits for all those before it. When it runs out, the channel is closed (from 4.3 "
    "on, quorum queues only, the messages go back) and everything unacked is delivered again.",
    "Lower the prefetch to the advised value; raise the queue's timeout (consumer-timeout) only "
    "where a single task takes that long.",
    "prefetch 100 of 30 s each, consumer_timeout 30 min",
    "prefetch 1 of 30 s each",
    CONSUMERS + "#acknowledgement-timeout",
)
GLOBAL_QOS = Rule(
    "PA110",
    "global-qos",
    Severity.WARNING,
    "A channel-wide (global) prefetch is in use, or was asked for and is applied per consumer.",
    "It is deprecated: refused by quorum queues and streams, and from 4.3 silently applied to each "
    "consumer, so that a shared n becomes n each.",
    "Use basic_qos with global off, and one consumer a channel.",
    "channel.basic_qos(prefetch_count=25, global_qos=True)",
    "channel.basic_qos(prefetch_count=25)",
    DOCS + "deprecated-features-list",
)
QUORUM_2000 = Rule(
    "PA111",
    "quorum-unlimited-is-2000",
    Severity.WARNING,
    "Prefetch 0 on a quorum queue is a limit of 2,000, not unlimited.",
    "2,000 messages in one process are rarely meant, and the broker lists the consumer as 0.",
    "Set a prefetch: --processing-time and --rtt give the advised one.",
    "channel.basic_consume('orders', handle)  # a quorum queue",
    "channel.basic_qos(prefetch_count=20)\nchannel.basic_consume('orders', handle)",
    DOCS + "quorum-queues",
)
SINGLE_ACTIVE = Rule(
    "PA112",
    "single-active-consumer",
    Severity.INFO,
    "A single active consumer queue is worked off by one consumer, however many there are.",
    "The others wait to take over. Its limit is the active one's alone.",
    "To go faster: a cheaper message, more concurrency in that consumer, or several queues.",
    "3 consumers on a single active consumer queue, to triple its rate",
    "2 consumers (one spare), and the work split over several queues",
    CONSUMERS + "#single-active-consumer",
)
UNEQUAL = Rule(
    "PA113",
    "unequal-consumers",
    Severity.WARNING,
    "Consumers of one queue work at very different rates with the same prefetch.",
    "The broker deals in turn to whoever has room: the slow one holds as much as the fast one, and "
    "its messages wait longest.",
    "Give each kind of machine its own prefetch.",
    "prefetch 100 for two consumers, one at 10/s and one at 50/s",
    "prefetch 2 for each, or one sized for each machine",
    PREFETCH,
)
NO_CONSUMERS = Rule(
    "PA114",
    "no-consumers",
    Severity.WARNING,
    "Messages are ready and nobody consumes.",
    "Prefetch is irrelevant until a consumer runs.",
    "Start consumers, or find out why they left.",
    "1,500 messages ready, 0 consumers",
    "as many consumers as the arrival rate needs",
    CONSUMERS,
)
POLLING = Rule(
    "PA115",
    "polling-consumer",
    Severity.WARNING,
    "Messages are fetched with basic.get: prefetch does not apply.",
    "Each message costs a round trip, and what was fetched and not acked is bounded by nothing.",
    "Consume (basic.consume) with a prefetch instead of polling.",
    "while True: channel.basic_get('tasks')",
    "channel.basic_qos(prefetch_count=10)\nchannel.basic_consume('tasks', handle)",
    CONSUMERS + "#polling",
)
REDELIVERY_LOOP = Rule(
    "PA116",
    "redelivery-loop",
    Severity.ERROR,
    "Nearly every delivery is a redelivery: the same messages come back again and again.",
    "A consumer that crashes or requeues on every message looks busy and gets nothing done; rates "
    "measured meanwhile are not demand.",
    "Reject without requeue (dead-letter) what cannot be handled; set a delivery limit.",
    "except Exception: channel.basic_nack(tag, requeue=True)",
    "except Exception: channel.basic_nack(tag, requeue=False)  # with a dead-letter exchange",
    DOCS + "quorum-queues#poison-message-handling",
)
PRIORITIES_DEFEATED = Rule(
    "PA117",
    "priorities-defeated",
    Severity.WARNING,
    "Priorities are used beside a prefetch so large that they decide little.",
    "Priority orders what is still in the queue. Messages already prefetched are worked off first, "
    "whatever their priority.",
    "Lower the prefetch to the advised value.",
    "x-max-priority 5 and prefetch 500",
    "x-max-priority 5 and prefetch 2",
    DOCS + "priority",
)
MEMORY_OVER_BUDGET = Rule(
    "PA118",
    "memory-over-budget",
    Severity.WARNING,
    "What a consumer may hold takes more memory than it has been given.",
    "Every prefetched message lies in the client's memory until it is acked, and a slow consumer "
    "holds as many as its prefetch allows.",
    "Lower the prefetch to what fits, or raise --memory-budget.",
    "prefetch 1000 of 300 kB each for a consumer of 256 MB",
    "prefetch 400",
    CONSUMERS,
)
BELOW_CONCURRENCY = Rule(
    "PA119",
    "prefetch-below-concurrency",
    Severity.WARNING,
    "The prefetch is below the number of messages a consumer can work on at once.",
    "The broker never gives it enough to keep its workers busy.",
    "Raise the prefetch to the concurrency at least.",
    "prefetch 4 for a pool of 16 threads",
    "prefetch 16 or more",
    PREFETCH,
)
BATCH_NOT_BELOW = Rule(
    "PA120",
    "batch-not-below-prefetch",
    Severity.WARNING,
    "The messages acked together are not fewer than the prefetch.",
    "Below the batch nothing is ever acked and the consumer stops for ever; at the batch it waits "
    "a whole round trip after each one.",
    "Set the prefetch to twice the batch at least, or ack more often.",
    "prefetch 10, acks for 10 messages with multiple=True",
    "prefetch 20, acks for 10 messages with multiple=True",
    CONFIRMS + "#consumer-acks-multiple-parameter",
)
EARLY_ACK = Rule(
    "PA122",
    "early-ack",
    Severity.WARNING,
    "Messages are acked before their work is done.",
    "The prefetch then bounds nothing that matters: work in hand is unlimited, lost in a crash.",
    "Ack after the work.",
    "ch.basic_ack(tag)\nwork(body)",
    "work(body)\nch.basic_ack(tag)",
    CONFIRMS + "#consumer-acknowledgements",
)
ABOVE_LIMIT = Rule(
    "PA123",
    "unacked-above-limit",
    Severity.INFO,
    "More messages are unacked than the consumers' prefetch allows.",
    "Deliveries of an earlier subscription still belong to the channel, or the prefetch was "
    "lowered with deliveries in flight. It passes as they are acked.",
    "Nothing, if it passes. Otherwise look for messages fetched with basic.get.",
    "prefetch 100, 110 unacked, after consuming again on a channel with 10 unacked",
    "cancel, wait for the acks, then consume again",
    CONFIRMS + "#channel-qos-prefetch",
)
UNUSED_QOS = Rule(
    "PA124",
    "qos-on-unused-channel",
    Severity.WARNING,
    "A prefetch is set on a channel that consumes nothing.",
    "A prefetch applies to the consumers created later on the same channel, and to no other: set "
    "on the wrong channel it does nothing.",
    "Set the prefetch on the channel that consumes.",
    "main.basic_qos(prefetch_count=10)\nworker.basic_consume('tasks', handle)",
    "worker.basic_qos(prefetch_count=10)\nworker.basic_consume('tasks', handle)",
    PREFETCH,
)
LATE_QOS = Rule(
    "PA125",
    "qos-not-in-force",
    Severity.WARNING,
    "The channel's prefetch was set after its consumer started, so it is not in force.",
    "basic.qos changes only consumers created afterwards on that channel.",
    "Call basic_qos before basic_consume.",
    "channel.basic_consume('tasks', handle)\nchannel.basic_qos(prefetch_count=5)",
    "channel.basic_qos(prefetch_count=5)\nchannel.basic_consume('tasks', handle)",
    PREFETCH,
)
REDELIVERIES = Rule(
    "PA130",
    "many-redeliveries",
    Severity.WARNING,
    "A good part of the deliveries are redeliveries.",
    "A consumer that crashes, or closes its channel after each message, gives back all that it had "
    "prefetched. That work is done again, and each delivery counts against the delivery limit: one "
    "bad message takes its prefetched neighbours with it to the dead letters.",
    "Keep channels open, reject what cannot be handled, and lower the prefetch: with 1, a crash "
    "costs one message.",
    "prefetch 50, x-delivery-limit 3, a handler that now and then kills its process",
    "prefetch 1 or 2, and basic_nack(tag, requeue=False) for what cannot be handled",
    DOCS + "quorum-queues#poison-message-handling",
)
NOTHING_DELIVERED = Rule(
    "PA131",
    "nothing-delivered",
    Severity.WARNING,
    "Messages are ready, consumers have room, and none is delivered to them.",
    "A client that does not read its socket, a blocked callback or a consumer that only the broker "
    "still believes in: no prefetch and no number of such consumers moves a message.",
    "Look at the client: is its connection read, do heartbeats pass? Restart it if not.",
    "56,000 ready, 1 consumer with prefetch 10, 0 unacked, 0 delivered in a minute",
    "a client whose I/O runs beside its handlers: 56,000 ready, 10 unacked, 40/s delivered",
    CONSUMERS,
)
PREFETCH_GROWS = Rule(
    "PA132",
    "prefetch-grows",
    Severity.WARNING,
    "The prefetch of a channel rises while it consumes.",
    "Something raises it as it runs, as Celery does for each task with an ETA or countdown that a "
    "worker holds: it is no bound then, and above 65,535 it is switched off altogether.",
    "Keep delayed tasks in a queue of their own, or delay them in the broker.",
    "a worker at prefetch 16 that holds 4,000 tasks with an ETA: its limit stands at 4,016",
    "tasks with an ETA in a queue of their own, and a limit of 16 that stays",
    PREFETCH,
)
POLLED_TOO = Rule(
    "PA133",
    "polled-beside-consumers",
    Severity.INFO,
    "Messages are fetched with basic.get from a queue that has consumers.",
    "What is fetched is under no prefetch and misses from the consumers' share; deliver_get counts "
    "both. It may be a person at the management UI, a health check, or a client that polls.",
    "Let the pollers consume too, or give them a queue of their own.",
    "3 consumers and a cron job that calls basic_get until the queue is empty",
    "4 consumers, or the cron job on a queue of its own",
    CONSUMERS + "#polling",
)
