"""Calls: of the program's own functions, which are followed, and of what libraries offer."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python import frameworks, inprocess, library
from prefetch_advisor.lint.python.machine import DEEPEST, SHORT, Frame, Machine, Op
from prefetch_advisor.lint.python.names import method_of
from prefetch_advisor.lint.python.values import (
    BODY,
    DELIVERY,
    NOTHING,
    TAG,
    UNKNOWN,
    Arguments,
    Class,
    Const,
    Func,
    Instance,
    Items,
    Key,
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

_LOGS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "echo"}
)
#: these neither fail nor do anything with what they are given
_PLAIN = frozenset(
    {
        *("len", "str", "repr", "isinstance", "range", "enumerate", "zip", "min", "max", "format"),
        *("id", "type", "bool", "hasattr", "getattr", "strip", "split", "lower", "upper", "join"),
        *("startswith", "endswith", "items", "keys", "values", "sorted", "list", "tuple", "set"),
        *("dict", "monotonic", "perf_counter", "time", "now", "utcnow", "sum", "any", "all"),
        *("isoformat", "hex", "encode"),
    }
)
#: part of a name that only reads what it is given
_READS = (
    *("decode", "loads", "parse", "deserial", "unpack", "unmarshal", "validate", "from_", "int"),
    *("float", "copy"),
)
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


def call(m: Machine, func: Value, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Follow a call."""
    if isinstance(func, Partial):
        return call(m, func.func, _joined(func.args, args), node, frame)
    if isinstance(func, Func):
        return inline(m, func, args, node, frame)
    if isinstance(func, Class):
        return _instance(m, func, args, node, frame)
    if isinstance(func, Instance):
        found = method_of(m, func.cls, "__call__")
        if found and isinstance(found[0], ast.FunctionDef | ast.AsyncFunctionDef):
            target = Func(found[0], found[1].module, found[1], func)
            return inline(m, target, args, node, frame)
    if isinstance(func, Method):
        known = _method(m, func, args, node, frame)
        return unresolved(m, func.name, func.owner, args, node, frame) if known is None else known
    if isinstance(func, Ref):
        known = _reference(m, func.name, args, node, frame)
        if known is not None:
            return known
        return unresolved(m, func.name, UNKNOWN, args, node, frame)
    name = ""
    if isinstance(node, ast.Call):
        target_node = node.func
        name = target_node.attr if isinstance(target_node, ast.Attribute) else getattr(
            target_node, "id", ""
        )
        if isinstance(target_node, ast.Attribute) and isinstance(func, Unknown):
            return unresolved(m, name, func, args, node, frame)
    return unresolved(m, name, func, args, node, frame)


def _joined(first: Arguments, second: Arguments) -> Arguments:
    return Arguments(
        [*first.positional, *second.positional],
        {**first.named, **second.named},
        first.open or second.open,
    )


# the program's own


def inline(m: Machine, func: Func, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Follow a function of the program with what it is called with."""
    code = func.node
    if code in m.active or len(m.active) > DEEPEST or not _matters(m, func, args):
        for value in args.values():
            m.escape(value)
        parts = NOTHING.union(*map(taint, args.values()))
        if TAG in parts:
            m.doing.escapes = True
            m.paths = {(True, caught) for _, caught in m.paths}
        return Unknown(None, parts)
    if not m.silent:
        m.called.add(code)
    inner = Frame(func.module, parameters(m, func, args, frame), func)
    kept_chain, kept_calls, kept_awaited = m.chain, m.calls, m.awaited
    m.chain = (*m.chain, frame.module.file.path, getattr(node, "lineno", 0))
    m.calls = (*m.calls, frame.module.place(node))
    m.awaited = None
    m.active.append(code)
    before = len(m.doing.ops), m.doing.settles()
    try:
        with m.catching("return") as out:
            if isinstance(code, ast.Lambda):
                inner.returned.append(m.evaluate(code.body, inner))
            else:
                m.execute(code.body, inner)
        m.paths = m.paths | out.of("return")
    finally:
        m.active.pop()
        m.chain, m.calls, m.awaited = kept_chain, kept_calls, kept_awaited
    _own_work(m, func, args, node, frame, before)
    return _returned(inner, args)


def _matters(m: Machine, func: Func, args: Arguments) -> bool:
    """A function that is worth following, with these arguments."""
    code = func.node
    if isinstance(code, ast.Lambda) or func.closure is not None:
        return True
    if len(code.body) <= SHORT or m.worth(func.module, code):
        return True
    return any(
        taint(value) or isinstance(value, Obj | Func | Partial) for value in args.values()
    )


def _own_work(
    m: Machine,
    func: Func,
    args: Arguments,
    node: ast.AST,
    frame: Frame,
    before: tuple[int, bool],
) -> None:
    """A function of the program that takes the message's body and does not ack it is work."""
    ops = m.doing.ops[before[0] :]
    parts = NOTHING.union(*map(taint, args.values()))
    if BODY in parts and not ops and func.name not in _LOGS and not _only_reads(func.name):
        m.doing.ops.append(
            Op("work", frame.module.place(node), m.step(), m.paths == {(True, None)})
        )


def _returned(frame: Frame, args: Arguments) -> Value:
    del args
    values = [value for value in frame.returned if constant(value) is not None]
    if not values:
        return UNKNOWN
    first = values[0]
    if all(value is first for value in values):
        return first
    if isinstance(first, Const) and all(constant(value) == first.value for value in values):
        return first
    objects = [value for value in values if isinstance(value, Obj)]
    if len(objects) == len(values) and len({(o.kind, o.key) for o in objects}) == 1:
        return first
    return Unknown(None, NOTHING.union(*map(taint, values)))


def parameters(m: Machine, func: Func, args: Arguments, frame: Frame | None) -> dict[str, Value]:
    """What the parameters of a function stand for in a call."""
    given = func.node.args
    names = [*given.posonlyargs, *given.args]
    env: dict[str, Value] = {}
    key: Key = (func.module.file.path, func.node.lineno, func.name)
    start = 0
    if func.owner is not None and names and not isinstance(func.node, ast.Lambda):
        static = any(
            isinstance(each, ast.Name) and each.id == "staticmethod"
            for each in func.node.decorator_list
        )
        if func.instance is not None and not static and func.closure is None:
            env[names[0].arg] = func.instance
            start = 1
    values = [_fixed(value) for value, _ in args.positional]
    for name, value in zip(names[start:], values, strict=False):
        env[name.arg] = value
    if given.vararg is not None:
        env[given.vararg.arg] = Items(values[len(names) - start :])
    known = {each.arg for each in (*names, *given.kwonlyargs)}
    env.update({name: _fixed(value) for name, (value, _) in args.named.items() if name in known})
    defaults = dict(zip([n.arg for n in reversed(names)], reversed(given.defaults), strict=False))
    defaults |= {
        name.arg: each
        for name, each in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if each is not None
    }
    for each in (*names, *given.kwonlyargs):
        if each.arg in env and not (env[each.arg] is UNKNOWN and each.annotation):
            continue
        default = defaults.get(each.arg)
        if default is not None and frame is not None and not args.open:
            with m.quiet():
                env[each.arg] = _fixed(m.evaluate(default, Frame(func.module, {})))
        else:
            env[each.arg] = annotated(m, each, (*key, each.arg), func)
    return env


def _fixed(value: Value) -> Value:
    """A constant that is an argument is wrong where it is written."""
    if isinstance(value, Const) and not value.fixed:
        return Const(value.value, value.place, value.name, fixed=True)
    return value


def annotated(m: Machine, name: ast.arg, key: Key, func: Func) -> Value:
    """A parameter whose value is not known, by what its annotation says."""
    found = Unknown(key)
    hint = name.annotation
    if hint is None or not isinstance(hint, ast.Name | ast.Attribute):
        return found
    with m.quiet():
        value = m.evaluate(hint, Frame(func.module, {}))
    if not isinstance(value, Ref):
        return found
    top, last = value.name.partition(".")[0], value.name.rpartition(".")[2]
    client = {"aio_pika": Client.AIO_PIKA, "pika": Client.PIKA, "aiormq": Client.AIORMQ}.get(top)
    if client is None:
        return found
    for word, kind in (
        ("Connection", Kind.CONNECTION),
        ("Channel", Kind.CHANNEL),
        ("Queue", Kind.QUEUE),
        ("Message", Kind.MESSAGE),
    ):
        if last.endswith(word):
            return Obj(kind, key, client)
    return found


def _instance(m: Machine, cls: Class, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    instance = Instance(cls)
    found = method_of(m, cls, "__init__")
    if found is not None and isinstance(found[0], ast.FunctionDef):
        inline(m, Func(found[0], found[1].module, found[1], instance), args, node, frame)
    else:
        instance.attributes.update({name: _fixed(v) for name, (v, _) in args.named.items()})
    return instance


# what libraries offer


def _method(
    m: Machine, func: Method, args: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
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
    if name in ("basic_qos", "set_qos"):
        return library.qos(m, func, args, node, frame)
    if name == "basic_consume":
        return library.consume(m, func, args, node, frame)
    if name == "basic_get" or (name == "get" and kind is Kind.QUEUE):
        return library.get(m, func, node, args, frame)
    if name == "consume":
        return _consume(m, func, kind, args, node, frame)
    if name == "iterator" and kind is Kind.QUEUE or name == "build_inbound_messages":
        return library.iterate(m, owner, args, node, frame)
    if name == "channel":
        return library.channel(m, func, args, node, frame)
    if name in ("declare_queue", "get_queue", "queue_declare"):
        m.take("raise")
        _callbacks(m, args, node, frame)
        return library.declare(m, func, args, node, frame)
    if name == "Consumer" and kind is Kind.CONNECTION and isinstance(owner, Obj):
        channel = args.value("channel", 1) or owner.of("channel") or owner
        return frameworks.consumer(
            m, channel, args.value("queues", 0), args, 2, node, frame
        )
    if name == "subscriber" and kind is Kind.BROKER and isinstance(owner, Obj):
        return frameworks.subscriber(m, owner, args, node, frame)
    if name == "process" and kind is Kind.MESSAGE:
        return Obj(Kind.PROCESS, ("process",))
    return _other_method(m, func, kind, args, node, frame)


def _other_method(
    m: Machine, func: Method, kind: Kind | None, args: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    name = func.name
    if name in _NOW:
        for value in args.values():
            if isinstance(value, Func | Partial):
                call(m, value, _rest(args), node, frame)
        return UNKNOWN
    if name in _LATER:
        _callbacks(m, args, node, frame)
        return UNKNOWN
    if name in _CLOSES and kind in (Kind.CHANNEL, Kind.CONNECTION, None):
        # what was not acked goes back to the queue
        m.paths = {(settled or caught is not None, caught) for settled, caught in m.paths}
        return UNKNOWN
    if kind in (Kind.CHANNEL, Kind.CONNECTION, Kind.QUEUE):
        m.take("raise")
        _callbacks(m, args, node, frame)
        return UNKNOWN
    return inprocess.used(m, func, args, node, frame)


def _rest(args: Arguments) -> Arguments:
    return Arguments(
        [each for each in args.positional if not isinstance(each[0], Func | Partial)]
    )


def _consume(
    m: Machine, func: Method, kind: Kind | None, args: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    owner = func.owner
    if kind is Kind.CHANNEL and isinstance(owner, Obj) and owner.client is Client.PIKA:
        return library.iterate(m, owner, args, node, frame)
    if kind is Kind.QUEUE:
        return library.consume(m, func, args, node, frame)
    if kind is None and m.client(Client.AIO_PIKA) and "aio_pika" in m.module.packages:
        if args.positional and isinstance(args.positional[0][0], Func | Partial):
            return library.consume(m, func, args, node, frame)
    if kind is None and "pika" in m.module.packages and constant(args.value("queue", 0)) is not (
        UNKNOWN
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


def _reference(
    m: Machine, name: str, args: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
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


def _callbacks(m: Machine, args: Arguments, node: ast.AST, frame: Frame) -> None:
    """Functions that are given away are called some time later, with what nobody knows."""
    if m.silent:
        return
    for value in args.values():
        if isinstance(value, Func | Partial):
            m.later.append((value, Arguments(open=True), node, frame))


def unresolved(
    m: Machine, name: str, owner: Value, args: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A call of what is not followed."""
    last = name.rpartition(".")[2]
    values = args.values()
    parts = taint(owner).union(*map(taint, values))
    if last in _LOGS or (last in _PLAIN and owner is not frame.instance):
        return Unknown(None, parts)
    m.take("raise")
    for value in values:
        m.escape(value)
    if isinstance(owner, Instance):
        m.escape(owner)
    _callbacks(m, args, node, frame)
    if not parts or _only_reads(last):
        return Unknown(None, parts) if parts else Unknown(m.key(frame, node))
    if BODY in parts:
        place = frame.module.place(node)
        m.doing.ops.append(Op("work", place, m.step(), m.paths == {(True, None)}))
    if TAG in parts:
        m.doing.escapes = True
        m.paths = {(True, caught) for _, caught in m.paths}
    return Unknown(None, parts & DELIVERY)


def _only_reads(name: str) -> bool:
    lower = name.lower()
    return name[:1].isupper() or any(part in lower for part in _READS)
