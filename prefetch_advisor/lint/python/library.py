"""What the calls of client libraries mean: connections, channels, prefetch, consumers, acks."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python import batches
from prefetch_advisor.lint.python.deliveries import Started, key_of, mode, parameters, start
from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.values import (
    DELIVERY,
    UNKNOWN,
    Arguments,
    Const,
    Func,
    Kind,
    Mapping,
    Method,
    Obj,
    Partial,
    Unknown,
    Value,
    constant,
)
from prefetch_advisor.lint.source.facts import Client, Concurrency, Get, Qos
from prefetch_advisor.model.lint import Located, Place

#: names of the arguments of a call that sets a prefetch, in their order
_BY_SIZE = ("prefetch_size", "prefetch_count", "global_qos")
_BY_SIZE_KOMBU = ("prefetch_size", "prefetch_count", "apply_global")
_BY_SIZE_AMQP = ("prefetch_size", "prefetch_count", "a_global")
_BY_COUNT = ("prefetch_count", "prefetch_size", "global_")
_GLOBAL = ("global_qos", "apply_global", "a_global", "global_", "all_channels", "global")
_RAW = (Client.PIKA, Client.AIORMQ, Client.KOMBU, Client.AMQP)


def client_of(m: Machine, owner: Value, *candidates: Client) -> Client:
    """That of a channel, else the first of these that the file imports."""
    if isinstance(owner, Obj) and owner.client is not None:
        return owner.client
    return m.client(*candidates)


def argument(
    args: Arguments, name: str, position: int | None, frame: Frame, call: ast.AST
) -> Located[int] | None:
    """A number; 0 where it is absent, ``None`` where it is not known."""
    found = args.of(name, position)
    if found is None:
        return None if args.open else Located(0, frame.module.place(call))
    value, node = found
    known = constant(value)
    place = value.place if isinstance(value, Const) and value.fixed else frame.module.place(node)
    if known is None:
        return Located(0, place)
    origin = value.name if isinstance(value, Const) else ""
    return Located(known, place, origin) if type(known) is int else None


def qos(m: Machine, method: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A call that sets a prefetch."""
    owner, call = method.owner, method.name
    order = _BY_COUNT
    channel = owner
    if call == "basic_qos":
        client = client_of(m, owner, *_RAW)
        order = _BY_SIZE_AMQP if client in (Client.KOMBU, Client.AMQP) else _BY_SIZE
    elif call == "qos" and (_is_consumer(owner) or m.client(*_AMQPSTORM) is Client.KOMBU):
        client, order = Client.KOMBU, _BY_SIZE_KOMBU
        if isinstance(owner, Obj):
            channel = owner.of("channel") or owner
    elif call == "qos":
        client = client_of(m, owner, Client.AMQPSTORM)
    else:
        client = client_of(m, owner, Client.AIO_PIKA)
    place = frame.module.place(node)
    count = argument(args, "prefetch_count", order.index("prefetch_count"), frame, node)
    size = args.of("prefetch_size", order.index("prefetch_size"))
    sized: Located[int | None] = Located(0, place)
    if size is not None:
        known = constant(size[0])
        said = known if type(known) is int else None if known is UNKNOWN else 0
        sized = Located(said, frame.module.place(size[1]))
    flag = next((found for name in _GLOBAL if (found := args.of(name))), None)
    flag = flag or args.of("", 2)
    whole = None
    if flag is not None and isinstance(constant(flag[0]), bool):
        whole = Located(bool(constant(flag[0])), frame.module.place(flag[1]))
    given = args.open or args.of("prefetch_count", order.index("prefetch_count")) is not None
    positional = size is not None and "prefetch_size" not in args.named and not given
    fact = Qos(client, call, key_of(m, channel), place, m.step(), count, sized, whole, positional)
    m.see(fact)
    return UNKNOWN


_AMQPSTORM = (Client.AMQPSTORM, Client.KOMBU)


def _is_consumer(value: Value) -> bool:
    return isinstance(value, Obj) and value.kind is Kind.CONSUMER


def consume(m: Machine, method: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A call that starts to consume, with a callback."""
    owner, call = method.owner, method.name
    place = frame.module.place(node)
    if call == "basic_consume":
        client = client_of(m, owner, *_RAW)
        queue, target = args.of("queue", 0), None
        for name in ("on_message_callback", "consumer_callback", "callback"):
            target = target or args.of(name)
        target = target or args.of("", 1)
        if queue is not None and isinstance(queue[0], Func | Partial | Method):
            queue, target = args.of("queue", 1), queue  # pika before 1.0
        flag = args.of("auto_ack", 2) or args.of("no_ack")
        channel: Value = owner
    elif isinstance(owner, Obj) and owner.kind is Kind.BASIC:
        client, channel = Client.AMQPSTORM, owner.of("channel") or owner
        target, queue = args.of("callback", 0), args.of("queue", 1)
        flag = args.of("no_ack", 4)
    else:
        client = Client.AIO_PIKA
        channel = (owner.of("channel") or owner) if isinstance(owner, Obj) else owner
        target, flag, queue = args.of("callback", 0), args.of("no_ack", 1), None
        if isinstance(owner, Obj) and isinstance(owner.data.get("name"), Const):
            queue = (owner.data["name"], node)
    how = _concurrency(client, channel)
    started = Started(
        client,
        call,
        _channel(channel),
        place,
        m.step(),
        _text(queue),
        _mode(flag, place, frame),
        how,
        node,
        frame,
    )
    if target is not None:
        started.targets.append((target[0], parameters(client, channel, node)))
    start(m, started)
    return UNKNOWN


def _channel(value: Value) -> Obj | Unknown:
    return value if isinstance(value, Obj | Unknown) else Unknown()


def _text(found: tuple[Value, ast.AST] | None) -> str | None:
    known = constant(found[0]) if found is not None else None
    return known if isinstance(known, str) else None


def _mode(flag: tuple[Value, ast.AST] | None, place: Place, frame: Frame):  # type: ignore
    if flag is None:
        return mode(None, place)
    value, node = flag
    at = value.place if isinstance(value, Const) and value.fixed else frame.module.place(node)
    return mode(value, at)


def _concurrency(client: Client, channel: Value) -> Concurrency:
    if client in (Client.AIO_PIKA, Client.AIORMQ, Client.FASTSTREAM):
        return Concurrency.TASKS
    connection = channel.of("connection") if isinstance(channel, Obj) else None
    loop = client is Client.PIKA and connection is not None and connection.text == "loop"
    return Concurrency.LOOP if loop else Concurrency.BLOCKING


def iterate(m: Machine, owner: Value, args: Arguments, node: ast.AST, frame: Frame) -> Obj:
    """A loop over deliveries is begun: ``channel.consume()``, ``queue.iterator()`` and so on."""
    place = frame.module.place(node)
    flushed = False
    channel = _channel(owner)
    if isinstance(owner, Obj) and owner.kind is Kind.QUEUE:
        client, channel = Client.AIO_PIKA, owner.of("channel") or owner
        queue, flag = _text((owner.data.get("name", UNKNOWN), node)), args.of("no_ack")
    elif isinstance(owner, Obj) and owner.client is Client.AMQPSTORM:
        client, queue, flag = Client.AMQPSTORM, None, None
    else:
        client = Client.PIKA
        queue, flag = _text(args.of("queue", 0)), args.of("auto_ack", 1) or args.of("no_ack", 1)
        flushed = args.of("inactivity_timeout") is not None
    started = Started(
        client,
        "consume",
        channel,
        place,
        m.step(),
        queue,
        _mode(flag, place, frame),
        Concurrency.ITERATOR,
        node,
        frame,
        flushed=flushed,
    )
    found = Obj(Kind.ITERATOR, m.key(frame, node), client, {"channel": channel})
    m.iterators[id(found)] = started
    m.kept.append(found)
    if client is not Client.AMQPSTORM:  # there it is consume() that begins
        start(m, started)
    else:
        _take_over(m, started)
    return found


def _take_over(m: Machine, started: Started) -> None:
    """The loop is what handles the deliveries of the consumers of its channel."""
    for each in m.started:
        if each.client is started.client and key_of(m, each.channel) == key_of(m, started.channel):
            each.concurrency = Concurrency.ITERATOR
            started.handlers = each.handlers


def get(m: Machine, method: Method, node: ast.AST, args: Arguments, frame: Frame) -> Value:
    """One message is asked for."""
    parts = Unknown(None, DELIVERY)
    loop = m.loops[-1] if m.loops else None
    if not isinstance(loop, ast.While) or m.silent:
        return parts
    drains = any(isinstance(each, ast.Break | ast.Return) for each in ast.walk(loop))
    client = client_of(m, method.owner, *_RAW)
    queue = _text(args.of("queue", 0))
    owner = method.owner
    if isinstance(owner, Obj) and owner.kind is Kind.QUEUE:
        queue = _text((owner.data.get("name", UNKNOWN), node))
    m.see(Get(client, method.name, frame.module.place(node), queue, drains))
    return parts


def settle(m: Machine, method: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """An ack, nack or reject."""
    kind = "ack" if method.name in ("basic_ack", "ack", "ack_log_error") else "nack"
    m.settle(kind, frame.module.place(node))
    flag = args.of("multiple", 1)
    if flag is not None and constant(flag[0]) is True:
        m.doing.ops[-1].several = True
        batches.several(m)
    return UNKNOWN


def declare(m: Machine, method: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A queue is declared, or named."""
    owner = method.owner
    name = args.value("queue") or args.value("name", 0) or UNKNOWN
    options = args.value("arguments")
    text = constant(name)
    if isinstance(options, Mapping) and isinstance(text, str) and not m.silent:
        levels = constant(options.items.get("x-max-priority"))
        kind = constant(options.items.get("x-queue-type"))
        if type(levels) is int:
            m.priorities[text] = Located(levels, frame.module.place(node))
        if isinstance(kind, str):
            m.types[text] = kind
    if method.name in ("declare_queue", "get_queue"):
        return Obj(
            Kind.QUEUE,
            m.key(frame, node),
            Client.AIO_PIKA,
            {"name": name, "channel": owner if isinstance(owner, Obj | Unknown) else UNKNOWN},
        )
    return UNKNOWN


def channel(m: Machine, method: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A channel is made."""
    owner = method.owner
    known = isinstance(owner, Obj) and owner.kind in (Kind.CONNECTION, Kind.CHANNEL)
    if isinstance(owner, Obj) and not known:
        return UNKNOWN
    client = client_of(
        m,
        owner,
        Client.PIKA,
        Client.AIO_PIKA,
        Client.AIORMQ,
        Client.AMQPSTORM,
        Client.KOMBU,
        Client.AMQP,
    )
    place = frame.module.place(node)
    made = m.new_channel(
        m.key(frame, node), client, place, owner if isinstance(owner, Obj) else None
    )
    opened = args.value("on_open_callback") or args.value("", 0)
    if isinstance(opened, Func | Partial):
        m.later.append((opened, Arguments([(made, node)]), node, frame))
    return made
