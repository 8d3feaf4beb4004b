"""What a program hands work to inside its own process: queues, pools, tasks; and what blocks."""

from __future__ import annotations

import ast
import math

from prefetch_advisor.lint.python.machine import Doing, Frame, Machine
from prefetch_advisor.lint.python.values import (
    TAG,
    UNKNOWN,
    Arguments,
    Const,
    Func,
    Instance,
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
from prefetch_advisor.lint.source.facts import Handoff
from prefetch_advisor.model.lint import Located

#: class of a buffer -> its argument that bounds it, and its position; ``None``: nothing does
_QUEUES: dict[str, tuple[str, int] | None] = {
    **{
        f"{module}.{name}": ("maxsize", 0)
        for module in ("queue", "asyncio", "Queue", "janus", "gevent.queue", "eventlet.queue")
        for name in ("Queue", "LifoQueue", "PriorityQueue", "JoinableQueue")
    },
    **{
        f"{module}.{name}": ("maxsize", 0)
        for module in ("multiprocessing", "multiprocess", "billiard")
        for name in ("Queue", "JoinableQueue")
    },
    "queue.SimpleQueue": None,
    "multiprocessing.SimpleQueue": None,
    "collections.deque": ("maxlen", 1),
    "trio.open_memory_channel": ("max_buffer_size", 0),
    "anyio.create_memory_object_stream": ("max_buffer_size", 0),
}
_POOLS = frozenset(
    {
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
        "multiprocessing.Pool",
        "multiprocessing.pool.Pool",
        "multiprocessing.pool.ThreadPool",
    }
)
_GUARDS = ("Semaphore", "BoundedSemaphore", "CapacityLimiter")
_LOOPS = ("get_event_loop", "get_running_loop", "new_event_loop")
_PUTS = frozenset({"put", "put_nowait", "append", "appendleft", "send", "send_nowait"})
_GETS = frozenset({"get", "get_nowait", "popleft", "pop", "receive", "receive_nowait"})
_SUBMITS = frozenset({"submit", "apply_async", "map_async", "starmap_async"})
_TASKS = frozenset({"asyncio.create_task", "asyncio.ensure_future"})
_BLOCKING = frozenset(
    {
        "time.sleep",
        "os.system",
        "urllib.request.urlopen",
        "socket.create_connection",
        "psycopg2.connect",
        "pymysql.connect",
        "MySQLdb.connect",
        *(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output")),
        *(
            f"{module}.{name}"
            for module in ("requests", "httpx")
            for name in ("get", "post", "put", "patch", "delete", "head", "request")
        ),
    }
)


def made(m: Machine, name: str, args: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """What a class or function of this dotted name gives, when it is one of these."""
    key: Key = (frame.module.file.path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    last = name.rpartition(".")[2]
    if name in _QUEUES:
        found = Obj(Kind.BUFFER, key, None, {}, frame.module.place(node), f"{name}()")
        bounded = _bounded(_QUEUES[name], name, args)
        found.data["bounded"] = Const(bounded, (frame.module, node))
        if name.startswith(("trio.", "anyio.")):
            from prefetch_advisor.lint.python.values import Items

            return Items([found, found])
        return found
    if name in _POOLS:
        return Obj(Kind.POOL, key, None, {}, frame.module.place(node), f"{last}")
    if last in _GUARDS:
        return Obj(Kind.GUARD, key)
    if name.startswith("asyncio.") and last in _LOOPS:
        return Obj(Kind.LOOP, key)
    if last in ("TaskGroup", "create_task_group", "open_nursery"):
        return Obj(Kind.GROUP, key)
    if name in _BLOCKING:
        m.doing.blocking.append(Located(name, frame.module.place(node)))
    return None


def _bounded(limit: tuple[str, int] | None, name: str, args: Arguments) -> bool | None:
    """Whether a buffer that is made so holds no more than it was made for."""
    if limit is None:
        return False
    given = args.value(*limit)
    if given is None:
        if name == "anyio.create_memory_object_stream":
            return True  # by default it holds nothing
        return None if args.open else False
    known = constant(given)
    if isinstance(given, Ref) and given.name == "math.inf":
        return False
    if isinstance(known, int | float) and not isinstance(known, bool):
        return bool(known > 0 and known != math.inf) or (known == 0 and "stream" in name)
    return False if known is None else None


def starts(m: Machine, func: Value, node: ast.Call) -> bool:
    """Whether a call starts something that goes on beside its caller."""
    del m
    if isinstance(func, Ref):
        return func.name in _TASKS
    if not isinstance(func, Method) or not isinstance(func.owner, Obj | Unknown):
        return False
    kind = func.owner.kind if isinstance(func.owner, Obj) else None
    if func.name in _SUBMITS:
        return kind is Kind.POOL
    if func.name == "create_task":
        return kind in (Kind.LOOP, None) and bool(node.args)
    return func.name == "run_in_executor" and len(node.args) > 1


def start(m: Machine, func: Value, node: ast.Call, frame: Frame, waited: bool) -> Value:
    """Follow what is started apart from its caller, and take it for a hand-off."""
    with m.apart() as doing:
        value = _started(m, func, node, frame, doing)
    place = frame.module.place(node)
    doing_here = m.doing
    parts = taint(value)
    if waited or (isinstance(func, Method) and func.name == "run_in_executor" and not parts):
        return UNKNOWN
    what = ast.unparse(node.func)
    if doing.settles() or parts:
        handoff = Handoff(
            place, what, doing_here.guarded, "", acked=False, acks_later=doing.settles()
        )
        doing_here.handoffs.append((handoff, m.step()))
        doing_here.handoffs += doing.handoffs
        if doing.settles() or TAG in parts:
            m.given_away()
        doing_here.escapes = True
        return Obj(Kind.STARTED, (place,), None, {}, place)
    return UNKNOWN


def _started(m: Machine, func: Value, node: ast.Call, frame: Frame, doing: Doing) -> Value:
    """What is started, with the parts of the delivery that it is given."""
    del doing
    values = [m.evaluate(each, frame) for each in node.args]
    named = {each.arg: m.evaluate(each.value, frame) for each in node.keywords if each.arg}
    parts = frozenset[str]().union(*map(taint, values), *map(taint, named.values()))
    if isinstance(func, Ref) or (isinstance(func, Method) and func.name == "create_task"):
        inner = node.args[0] if node.args else None  # it was followed with the arguments
        if isinstance(inner, ast.Call):
            for each in (*inner.args, *(keyword.value for keyword in inner.keywords)):
                with m.quiet():
                    parts |= taint(m.evaluate(each, frame))
        return Unknown(None, parts)
    at = 1 if isinstance(func, Method) and func.name == "run_in_executor" else 0
    if len(values) > at:
        target = values[at]
        if isinstance(target, Func | Partial):
            given = Arguments(
                [(value, node) for value in values[at + 1 :]],
                {key: (value, node) for key, value in named.items()},
            )
            if isinstance(func, Method) and func.name == "apply_async":
                given = _of_apply(values[at + 1 :], named, node)
            m.call(target, given, node, frame)
    return Unknown(None, parts)


def _of_apply(values: list[Value], named: dict[str, Value], node: ast.AST) -> Arguments:
    from prefetch_advisor.lint.python.values import Items

    args = values[0] if values else named.get("args")
    items = args.items if isinstance(args, Items) else []
    return Arguments([(item, node) for item in items])


def waited_for(m: Machine, value: Value) -> Value:
    """What is awaited holds its caller: it is no hand-off."""
    if isinstance(value, Obj) and value.kind is Kind.STARTED:
        m.doing.handoffs = [
            (handoff, step) for handoff, step in m.doing.handoffs if handoff.place != value.place
        ]
        return UNKNOWN
    return value


def used(m: Machine, method: Method, args: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """A method of a buffer, a pool, a guard or something started; ``None``: it is none of them."""
    owner, name = method.owner, method.name
    if name == "acquire":
        m.doing.guarded = True
        return UNKNOWN
    if not isinstance(owner, Obj):
        return None
    if owner.kind is Kind.STARTED and name in ("result", "get", "wait"):
        return waited_for(m, owner)
    if owner.kind is not Kind.BUFFER:
        return UNKNOWN if owner.kind in (Kind.POOL, Kind.LOOP, Kind.GROUP, Kind.GUARD) else None
    key = repr(owner.key)
    if name in _PUTS and any(taint(value) for value in args.values()):
        bounded = constant(owner.data.get("bounded"))
        known = bounded if isinstance(bounded, bool) else None
        where = f"{owner.text} of line {owner.place.line}" if owner.place else owner.text
        place = frame.module.place(node)
        handoff = Handoff(place, where, known or m.doing.guarded, key)
        if owner.text != "collections.deque()" or not _is_local(frame, owner):
            m.doing.handoffs.append((handoff, m.step()))
        m.doing.escapes = True
        if any(TAG in taint(value) for value in args.values()):
            m.given_away()
    elif name in _GETS:
        m.doing.reads.append(key)
        return Unknown(None, frozenset(("body", "tag")))
    return UNKNOWN


def _is_local(frame: Frame, owner: Obj) -> bool:
    """A buffer that lives no longer than one call."""
    return any(value is owner for value in frame.env.values()) and not isinstance(
        frame.instance, Instance
    )
