"""What libraries offer: methods of their objects, and their functions and classes by name."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python import frameworks, inprocess, library
from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.packages import other_broker
from prefetch_advisor.lint.python.unresolved import callbacks
from prefetch_advisor.lint.python.values import (
    NOTHING,
    TAG,
    UNKNOWN,
    Arguments,
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
    taint,
)
from prefetch_advisor.lint.source.facts import Client

_EXITS = frozenset({"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"})
_NOW = frozenset({"add_callback_threadsafe", "call_soon_threadsafe"})
_LATER = frozenset({"call_later", "call_soon", "add_timeout", "call_at"})
_CLOSES = frozenset({"close", "stop_consuming", "stop", "basic_cancel", "cancel", "basic_recover"})
_ACKS = frozenset(
    {
        *("basic_ack", "basic_nack", "basic_reject", "ack", "nack", "reject", "requeue"),
        *("ack_log_error", "reject_log_error"),
    }
)
_CONNECTS = {
    ("aio_pika", "connect"): Client.AIO_PIKA,
    ("aio_pika", "connect_robust"): Client.AIO_PIKA,
    ("aiormq", "connect"): Client.AIORMQ,
    ("aiormq", "Connection"): Client.AIORMQ,
    ("kombu", "Connection"): Client.KOMBU,
    ("kombu", "BrokerConnection"): Client.KOMBU,
    ("amqp", "Connection"): Client.AMQP,
    ("amqpstorm", "Connection"): Client.AMQPSTORM,
    ("amqpstorm", "UriConnection"): Client.AMQPSTORM,
}
_SAME = frozenset(
    {
        *("contextlib.closing", "contextlib.aclosing", "asyncio.wait_for", "asyncio.shield"),
        *("asyncio.run", "contextlib.nullcontext", "builtins.iter", "builtins.aiter"),
    }
)
_THREADS = frozenset({"threading.Thread", "threading.Timer", "multiprocessing.Process"})


# what libraries offer


def method(m: Machine, func: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """A method that means something; ``None``: it means nothing here."""
    owner, name = func.owner, func.name
    kind = owner.kind if isinstance(owner, Obj) else None
    if name in _ACKS and kind not in (Kind.BUFFER, Kind.POOL):
        return library.settle(m, func, args, node, frame)
    if kind is Kind.BASIC and name == "get":
        return library.get(m, func, node, args, frame)
    if kind is Kind.BASIC and name in ("qos", "consume"):
        call_ = library.qos if name == "qos" else library.consume
        target = Method(owner.of("channel") or owner, name) if isinstance(owner, Obj) else func
        return call_(m, target if name == "qos" else func, args, node, frame)
    if kind is Kind.CONSUMER and isinstance(owner, Obj):
        return _of_consumer(m, owner, func, args, node, frame)
    if name in ("basic_qos", "set_qos") or _is_consumers_qos(m, func, args):
        callbacks(m, args, node, frame)
        return library.qos(m, func, args, node, frame)
    if name == "basic_consume":
        return library.consume(m, func, args, node, frame)
    if name == "basic_get" or (name == "get" and kind is Kind.QUEUE):
        return library.get(m, func, node, args, frame)
    if name == "consume":
        return _consume(m, func, kind, args, node, frame)
    if (name == "iterator" and kind is Kind.QUEUE) or name == "build_inbound_messages":
        return library.iterate(m, owner, args, node, frame)
    if name == "channel":
        return library.channel(m, func, args, node, frame)
    if name in ("declare_queue", "get_queue", "queue_declare"):
        m.take("raise")
        callbacks(m, args, node, frame)
        return library.declare(m, func, args, node, frame)
    if name == "Consumer" and kind is Kind.CONNECTION and isinstance(owner, Obj):
        channel = args.value("channel", 1) or owner.of("channel") or owner
        return frameworks.consumer(m, channel, args.value("queues", 0), args, 2, node, frame)
    if name == "subscriber" and kind is Kind.BROKER and isinstance(owner, Obj):
        return frameworks.subscriber(m, owner, args, node, frame)
    if name == "process" and kind is Kind.MESSAGE:
        return Obj(Kind.PROCESS, ("process",))
    return _other_method(m, func, kind, args, node, frame)


def _is_consumers_qos(m: Machine, func: Method, args: Arguments) -> bool:
    """That of a consumer of kombu's which the program got from elsewhere."""
    known = func.name == "qos" and "prefetch_count" in args.named and "kombu" in m.module.packages
    return known and isinstance(func.owner, Unknown)


def _other_method(
    m: Machine, func: Method, kind: Kind | None, args: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    name = func.name
    if name in _NOW:
        for value in args.values():
            if isinstance(value, Func | Partial):
                m.call(value, _rest(args), node, frame)
        return UNKNOWN
    if name in _LATER:
        callbacks(m, args, node, frame)
        return UNKNOWN
    if name in _CLOSES and kind in (Kind.CHANNEL, Kind.CONNECTION, None):
        # what was not acked goes back to the queue
        m.paths = {(settled or caught is not None, caught) for settled, caught in m.paths}
        return UNKNOWN
    if kind in (Kind.CHANNEL, Kind.CONNECTION, Kind.QUEUE):
        m.take("raise")
        callbacks(m, args, node, frame)
        return UNKNOWN
    return inprocess.used(m, func, args, node, frame)


def _rest(args: Arguments) -> Arguments:
    return Arguments([each for each in args.positional if not isinstance(each[0], Func | Partial)])


def _consume(
    m: Machine, func: Method, kind: Kind | None, args: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    owner = func.owner
    if kind is Kind.CHANNEL and isinstance(owner, Obj) and owner.client is Client.PIKA:
        return library.iterate(m, owner, args, node, frame)
    if kind is Kind.QUEUE:
        return library.consume(m, func, args, node, frame)
    given = args.positional[0][0] if args.positional else None
    if kind is None and "aio_pika" in m.module.packages and isinstance(given, Func | Partial):
        return library.consume(m, func, args, node, frame)
    if (
        kind is None
        and "pika" in m.module.packages
        and constant(args.value("queue", 0)) is not (UNKNOWN)
    ):
        return library.iterate(m, owner, args, node, frame)
    return None


def _of_consumer(
    m: Machine, owner: Obj, func: Method, args: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if func.name == "qos":
        return library.qos(m, func, args, node, frame)
    if func.name == "consume":
        frameworks.begin(m, owner, node, frame, args)
    elif func.name == "register_callback":
        frameworks.register(m, owner, args, node)
    return UNKNOWN


def reference(m: Machine, name: str, args: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """A function or class of a library, by its dotted name."""
    top, last = name.partition(".")[0], name.rpartition(".")[2]
    if name in ("functools.partial", "functools.partialmethod") and args.positional:
        rest = Arguments(args.positional[1:], args.named, args.open)
        return Partial(args.positional[0][0], rest)
    if name in _EXITS:
        m.leave("exit")
        return UNKNOWN
    if top == "pika" and last.endswith("Connection"):
        return _pika(m, last, args, node, frame)
    if (top, last) in _CONNECTS:
        if top == "kombu" and other_broker(constant(args.value("hostname", 0))):
            m.foreign = True
        return Obj(Kind.CONNECTION, m.key(frame, node), _CONNECTS[top, last])
    if name == "amqpstorm.Channel":
        return m.new_channel(m.key(frame, node), Client.AMQPSTORM, frame.module.place(node))
    if name in _SAME and args.positional:
        return args.positional[0][0]
    if name == "typing.cast" and len(args.positional) > 1:
        return args.positional[1][0]
    if name == "contextlib.suppress":
        return Ref("suppress")
    if name in ("asyncio.gather", "asyncio.wait"):
        for value in _flat(args.values()):
            inprocess.waited_for(m, value)
        return UNKNOWN
    if name in _THREADS:
        return _thread(m, args, node, frame)
    if last == "Queue" and top == "kombu":
        named = args.value("name", 0) or UNKNOWN
        levels = constant(args.value("max_priority"))
        text = constant(named)
        if type(levels) is int and isinstance(text, str) and not m.silent:
            from prefetch_advisor.model.lint import Located

            m.priorities[text] = Located(levels, frame.module.place(node))
        return Obj(Kind.QUEUE, m.key(frame, node), Client.KOMBU, {"name": named})
    found = frameworks.made(m, name, args, node, frame)
    return found if found is not None else inprocess.made(m, name, args, node, frame)


def _flat(values: list[Value]) -> list[Value]:
    return [
        each
        for value in values
        for each in (_flat(value.items) if isinstance(value, Items) else [value])
    ]


def _pika(m: Machine, last: str, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    how = "blocking" if last == "BlockingConnection" else "loop"
    found = Obj(Kind.CONNECTION, m.key(frame, node), Client.PIKA, {}, None, how)
    opened = args.value("on_open_callback", 1)
    if isinstance(opened, Func | Partial):
        m.later.append((opened, Arguments([(found, node)]), node, frame))
    return found


def _thread(m: Machine, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    target = args.value("target") or args.value("function", 1)
    if not isinstance(target, Func | Partial):
        for value in args.values():
            m.escape(value)
        return UNKNOWN
    given = args.value("args")
    values = given.items if isinstance(given, Items) else []
    positional = Arguments([(value, node) for value in values], open=given is not None)
    parts = NOTHING.union(*map(taint, values))
    if parts:  # a thread for each message: what it does is done beside
        m.doing.escapes |= TAG in parts
    elif not m.silent:
        m.later.append((target, positional, node, frame))
    return UNKNOWN
