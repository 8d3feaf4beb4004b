"""What is done with deliveries: in callbacks, in loops over them, in decorated functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from prefetch_advisor.lint.python.expressions import bind
from prefetch_advisor.lint.python.machine import Catcher, Doing, Frame, Machine, Paths
from prefetch_advisor.lint.python.values import (
    DELIVERY,
    UNKNOWN,
    Arguments,
    Func,
    Instance,
    Items,
    Kind,
    Obj,
    Partial,
    Unknown,
    Value,
    constant,
)
from prefetch_advisor.lint.source.facts import (
    Client,
    Concurrency,
    Consume,
    Handler,
    Handoff,
    Step,
)
from prefetch_advisor.model.lint import AckMode, Located, Place


@dataclass(slots=True)
class Started:
    """A consumer that is started, before it is known what its handlers do."""

    client: Client
    call: str
    channel: Obj | Unknown
    place: Place
    step: Step
    queue: str | None
    ack: Located[AckMode] | None
    concurrency: Concurrency
    node: ast.AST
    frame: Frame
    targets: list[tuple[Value, Arguments]] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    prefetch: Located[int] | None = None
    #: the loop over it is woken without a message, too
    flushed: bool = False


def key_of(m: Machine, value: Value) -> str:
    """Of a channel, as facts name it."""
    if isinstance(value, Obj | Unknown) and value.key is not None:
        return repr(value.key)
    del m
    return ""


def start(m: Machine, started: Started) -> Started:
    """Note a consumer; its handlers are followed when all of the run is known."""
    if not m.silent:
        m.started.append(started)
    return started


def finish(m: Machine) -> None:
    """Follow the handlers of the consumers that were started, and tell of these."""
    done = 0
    while done < len(m.started):
        one = m.started[done]
        done += 1
        for func, args in one.targets:
            one.handlers.append(handle(m, func, args, one))
        m.see(
            Consume(
                one.client,
                one.call,
                key_of(m, one.channel),
                one.place,
                one.step,
                one.queue,
                one.ack,
                tuple(one.handlers),
                one.prefetch,
            )
        )
    m.started.clear()


def handle(m: Machine, func: Value, args: Arguments, started: Started) -> Handler:
    """Follow a handler with a delivery."""
    with m.apart() as doing:
        with m.catching("return", "raise", "break", "continue") as out:
            m.call(func, args, started.node, started.frame)
        ended = m.paths
    inner = func
    while isinstance(inner, Partial):
        inner = inner.func
    name, place = "handler", started.place
    if isinstance(inner, Func):
        name, place = inner.name, inner.module.place(inner.node)
    known = isinstance(inner, Func)
    if known and started.client is Client.FASTSTREAM and not _is_async(inner):
        doing.blocking.clear()  # FastStream gives it to a thread
    found = _judged(name, place, started, doing, ended, out)
    return found if known else replace(found, escapes=True)


def _is_async(func: Value) -> bool:
    return isinstance(func, Func) and isinstance(func.node, ast.AsyncFunctionDef)


def _judged(
    name: str, place: Place, started: Started, doing: Doing, ended: Paths, out: Catcher
) -> Handler:
    client, concurrency = started.client, started.concurrency
    automatic = client is Client.FASTSTREAM and not (started.ack and started.ack.value == "manual")
    raised = out.of("raise")
    acked = (True, None) in ended
    swallowed = {at for settled, at in ended if at is not None and not settled} if acked else set()
    acks = [op for op in doing.ops if op.kind == "ack"]
    skipped = None
    leaks = client in (Client.AIO_PIKA, Client.AIORMQ) and concurrency is Concurrency.TASKS
    if leaks and acked and not swallowed and acks and any(not settled for settled, _ in raised):
        skipped = acks[0].place
    if automatic:
        swallowed, skipped = set(), None
    return Handler(
        name,
        client,
        place,
        concurrency,
        doing.settles() or automatic,
        skipped,
        tuple(sorted(swallowed, key=lambda at: (at.path, at.line, at.column))),
        early(doing),
        tuple(doing.blocking),
        handoffs(doing, automatic),
        doing.batch,
        started.flushed,
        doing.escapes,
    )


def early(doing: Doing) -> Place | None:
    """The ack after which all of the work with the message is done."""
    works = [op for op in doing.ops if op.kind == "work"]
    if not works or not all(op.settled for op in works):
        return None
    if 0 < doing.away < works[0].step.number:
        return None  # that it was acked is only supposed
    before = [op for op in doing.ops if op.kind == "ack" and op.step.number < works[0].step.number]
    return before[-1].place if before else None


def handoffs(doing: Doing, automatic: bool = False) -> tuple[Handoff, ...]:
    """Those of a handler or stage, with whether it acks the message itself."""
    acks = [op for op in doing.ops if op.kind == "ack"]
    return tuple(
        replace(
            handoff,
            acked=automatic or any(not op.step.excludes(step) for op in acks),
        )
        for handoff, step in doing.handoffs
    )


def message(client: Client, channel: Value) -> Obj:
    """A delivery as an object."""
    return Obj(Kind.MESSAGE, ("message",), client, {"channel": channel})


def parameters(client: Client, channel: Value, node: ast.AST, call: str = "") -> Arguments:
    """What a handler of this client is called with."""
    body = Unknown(None, frozenset(("body",)))
    if client is Client.PIKA or call == "four":
        tag = Unknown(None, frozenset(("tag",)))
        values: list[Value] = [channel, tag, UNKNOWN, body]
    elif client is Client.KOMBU and call == "callbacks":
        values = [body, message(client, channel)]
    else:
        values = [message(client, channel)]
    return Arguments([(value, node) for value in values])


def loop(m: Machine, value: Value, node: ast.stmt, frame: Frame) -> bool:
    """Follow a loop over deliveries; whether it is one."""
    if not isinstance(value, Obj) or not isinstance(node, ast.For | ast.AsyncFor):
        return False
    if value.kind is Kind.QUEUE and isinstance(node, ast.AsyncFor):
        value = m.iterate(value, node, frame)
    if value.kind is not Kind.ITERATOR:
        return False
    started = m.iterators.get(id(value))
    if started is None:
        return False
    channel = started.channel
    if started.client is Client.PIKA:
        values = [value for value, _ in parameters(Client.PIKA, channel, node).positional[1:]]
        target: Value = Items(values)
    else:
        target = message(started.client, channel)
    with m.apart() as doing:
        m.paths = {(False, None)}
        with m.catching("return", "raise", "break", "continue") as out:
            bind(m, node.target, target, frame)
            m.execute(node.body, frame)
        ended = m.paths | out.of("continue") | out.of("break") | out.of("return")
    place = frame.module.place(node)
    name = frame.func.name if frame.func else "the loop"
    started.handlers.append(_judged(name, place, started, doing, ended, out))
    m.take("raise")
    return True


def entered(m: Machine, value: Value, node: ast.AST, frame: Frame) -> Value:
    """What ``with`` gives, for what it is entered with."""
    if isinstance(value, Obj):
        if value.kind is Kind.GUARD:
            m.doing.guarded = True
        elif value.kind is Kind.CONSUMER:
            m.begin(value, node, frame)
        return value
    return value if isinstance(value, Instance) else Unknown()


def decorated(m: Machine, value: Value, func: Func, frame: Frame) -> None:
    """A function that a decorator makes a handler."""
    del frame
    if not isinstance(value, Obj) or value.kind is not Kind.CONSUMER:
        return
    started = m.iterators.get(id(value))
    if started is None:
        return
    names = [*func.node.args.posonlyargs, *func.node.args.args, *func.node.args.kwonlyargs]
    parts = Unknown(None, frozenset(DELIVERY - {"tag"}))
    hints = [ast.unparse(each.annotation) if each.annotation else "" for each in names]
    values: dict[str, tuple[Value, ast.AST]] = {
        each.arg: (
            message(started.client, started.channel) if "Message" in hint else parts,
            func.node,
        )
        for each, hint in zip(names, hints, strict=True)
        if not any(word in hint for word in ("Depends", "Context", "Logger"))
    }
    started.targets.append((func, Arguments(named=values)))


def mode(value: Value | None, place: Place) -> Located[AckMode] | None:
    """The ack mode that an argument like ``auto_ack`` says; absent is manual."""
    if value is None:
        return Located("manual", place)
    known = constant(value)
    if known is None:
        return Located("manual", place)
    return Located("auto" if known else "manual", place) if known is not UNKNOWN else None
