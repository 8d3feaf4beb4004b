"""kombu's consumers, FastStream's brokers, dramatiq's: what is made of their classes."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python.deliveries import Started, key_of, mode, parameters, start
from prefetch_advisor.lint.python.library import argument
from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.values import (
    UNKNOWN,
    Arguments,
    Const,
    Func,
    Items,
    Kind,
    Method,
    Obj,
    Partial,
    Ref,
    Unknown,
    Value,
    constant,
)
from prefetch_advisor.lint.source.facts import BrokerPriorities, Client, Concurrency, Qos
from prefetch_advisor.model.lint import Located


def made(m: Machine, name: str, args: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """What a class of this dotted name gives, when it is one of these."""
    top, last = name.partition(".")[0], name.rpartition(".")[2]
    if top == "kombu" and last == "Consumer":
        channel = args.value("channel", 0) or UNKNOWN
        queues = args.value("queues", 1)
        return consumer(m, channel, queues, args, 2, node, frame)
    if top == "faststream" and last == "RabbitBroker":
        broker = Obj(Kind.BROKER, m.key(frame, node), Client.FASTSTREAM)
        broker.data["settings"] = args.value("default_channel") or Const(None, (frame.module, node))
        if args.open:
            broker.data["settings"] = UNKNOWN
        policy = args.value("ack_policy")
        if policy is not None:
            broker.data["policy"] = policy
        return broker
    if top == "faststream" and last == "Channel":
        return _settings(m, args, node, frame)
    if top == "faststream" and last == "RabbitQueue":
        return args.value("name", 0)
    if top == "dramatiq" and last == "RabbitmqBroker":
        levels = argument(args, "max_priority", None, frame, node)
        if levels is not None and levels.value > 1:
            m.see(BrokerPriorities(Client.DRAMATIQ, levels.place, levels.value))
    return None


def consumer(
    m: Machine,
    channel: Value,
    queues: Value | None,
    args: Arguments,
    first: int,
    node: ast.AST,
    frame: Frame,
) -> Obj:
    """A consumer of kombu's: it consumes when it is entered, or told to."""
    place = frame.module.place(node)
    if isinstance(channel, Obj) and channel.kind is Kind.CONNECTION:
        channel = m.new_channel((*channel.key, "default_channel"), Client.KOMBU, place, channel)
    if not isinstance(channel, Obj):
        key = channel.key if isinstance(channel, Unknown) else None
        channel = Obj(Kind.CHANNEL, key or m.key(frame, node), Client.KOMBU)
    flag = args.of("no_ack", first)
    ack = mode(flag[0], frame.module.place(flag[1])) if flag else mode(None, place)
    started = Started(
        Client.KOMBU,
        "Consumer",
        channel,
        place,
        m.step(),
        _queue(m, queues),
        ack,
        Concurrency.BLOCKING,
        node,
        frame,
    )
    callbacks = args.value("callbacks", first + 2)
    for each in callbacks.items if isinstance(callbacks, Items) else ():
        started.targets.append((each, parameters(Client.KOMBU, channel, node, "callbacks")))
    whole = args.value("on_message", first + 4)
    if isinstance(whole, Func | Partial):
        started.targets.append((whole, parameters(Client.KOMBU, channel, node)))
    found = Obj(Kind.CONSUMER, m.key(frame, node), Client.KOMBU, {"channel": channel}, place)
    m.iterators[id(found)] = started
    m.kept.append(found)
    if args.of("prefetch_count", first + 6) is not None:
        count = argument(args, "prefetch_count", first + 6, frame, node)
        if count is None or constant(args.value("prefetch_count", first + 6)) is not None:
            size: Located[int | None] = Located(0, place)
            where = count.place if count is not None else place
            m.see(Qos(Client.KOMBU, "Consumer", key_of(m, channel), where, m.step(), count, size))
    return found


def _queue(m: Machine, value: Value | None) -> str | None:
    if isinstance(value, Items) and len(value.items) == 1:
        value = value.items[0]
    if isinstance(value, Obj) and value.kind is Kind.QUEUE:
        value = value.data.get("name")
    known = constant(value)
    del m
    return known if isinstance(known, str) else None


def begin(m: Machine, value: Obj, node: ast.AST, frame: Frame, args: Arguments) -> None:
    """A consumer of kombu's begins to consume, if it has not yet."""
    started = m.iterators.get(id(value))
    if started is None or started in m.started:
        return
    flag = args.of("no_ack", 0)
    if flag is not None and constant(flag[0]) is not None:
        started.ack = mode(flag[0], frame.module.place(flag[1]))
    started.step = m.step()
    del node
    start(m, started)


def register(m: Machine, value: Obj, args: Arguments, node: ast.AST) -> None:
    """A callback is added to a consumer of kombu's."""
    started = m.iterators.get(id(value))
    target = args.value("callback", 0)
    if started is not None and target is not None:
        channel = value.of("channel") or UNKNOWN
        started.targets.append((target, parameters(Client.KOMBU, channel, node, "callbacks")))


# FastStream


def _settings(m: Machine, args: Arguments, node: ast.AST, frame: Frame) -> Obj:
    place = frame.module.place(node)
    found = Obj(Kind.SETTINGS, m.key(frame, node), Client.FASTSTREAM, {}, place)
    count = argument(args, "prefetch_count", 0, frame, node)
    if args.of("prefetch_count", 0) is not None or args.open:
        flag = args.of("global_qos", 1)
        whole = None
        if flag is not None and isinstance(constant(flag[0]), bool):
            whole = Located(bool(constant(flag[0])), frame.module.place(flag[1]))
        where = count.place if count is not None else place
        size: Located[int | None] = Located(0, place)
        m.see(
            Qos(Client.FASTSTREAM, "Channel", repr(found.key), where, m.step(), count, size, whole)
        )
    if not m.silent:
        m.channels[found.key] = place
    return found


def subscriber(m: Machine, broker: Obj, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A decorator that makes a function a handler of FastStream's."""
    place = frame.module.place(node)
    settings = args.value("channel") or broker.data.get("settings")
    if isinstance(settings, Obj):
        channel = settings
    else:
        known = constant(settings) is None
        channel = Obj(Kind.SETTINGS, (*broker.key, "default"), Client.FASTSTREAM)
        if known and not args.open:
            m.channels[channel.key] = place
    policy = args.value("ack_policy") or broker.data.get("policy")
    ack = mode(None, place)
    if isinstance(policy, Ref) and policy.name.endswith("ACK_FIRST"):
        found = args.of("ack_policy")
        ack = Located("auto", frame.module.place(found[1]) if found else place)
    elif isinstance(policy, Ref) and policy.name.endswith("MANUAL"):
        ack = Located("manual", place, "by hand")
    elif policy is not None and not isinstance(policy, Ref):
        ack = None
    queue = constant(args.value("queue", 0))
    started = Started(
        Client.FASTSTREAM,
        "subscriber",
        channel,
        place,
        m.step(),
        queue if isinstance(queue, str) else None,
        ack,
        Concurrency.TASKS,
        node,
        frame,
    )
    found_obj = Obj(Kind.CONSUMER, m.key(frame, node), Client.FASTSTREAM, {"channel": channel})
    m.iterators[id(found_obj)] = started
    m.kept.append(found_obj)
    start(m, started)
    return found_obj


def mixin(m: Machine, key: tuple[object, ...], node: ast.AST, frame: Frame) -> dict[str, Value]:
    """What the methods of a class that is kombu's ConsumerMixin are given."""
    made_at = frame.module.place(node)
    channel = m.new_channel((*key, "channel"), Client.KOMBU, made_at)
    connection = Obj(Kind.CONNECTION, (*key, "connection"), Client.KOMBU, {"channel": channel})
    return {"Consumer": Method(connection, "Consumer"), "channel": channel}
