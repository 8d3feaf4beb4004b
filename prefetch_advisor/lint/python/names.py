"""What names, attributes and imports of a program stand for."""

from __future__ import annotations

import ast
import builtins
import sys
from dataclasses import dataclass, replace

from prefetch_advisor.lint.python import decorators
from prefetch_advisor.lint.python.machine import Frame, Machine, class_key, keyed
from prefetch_advisor.lint.python.module import Binding, Member, Module
from prefetch_advisor.lint.python.values import (
    DELIVERY,
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
    Ref,
    Unknown,
    Value,
)
from prefetch_advisor.lint.source.facts import Client

#: methods that mean something, whatever they are called on
METHODS = frozenset(
    {
        *("basic_qos", "basic_consume", "basic_get", "set_qos", "channel", "consume", "qos"),
        *("basic_ack", "basic_nack", "basic_reject", "ack", "nack", "reject", "requeue"),
        *("declare_queue", "get_queue", "queue_declare", "iterator", "build_inbound_messages"),
        *("add_callback_threadsafe", "call_soon_threadsafe", "process", "get", "acquire"),
        *("put", "put_nowait", "submit", "run_in_executor", "create_task", "apply_async"),
        *("Consumer", "subscriber", "create_channel"),
    }
)
_BUILTINS = frozenset(dir(builtins))
_STANDARD = sys.stdlib_module_names
#: classes of which it is known what they add: nothing that sets a prefetch
_PLAIN_BASES = frozenset({"object", "ABC", "Thread", "Process", "Protocol", "Generic"})


@dataclass(slots=True, eq=False)
class Loaded(Value):
    """Another file of the program."""

    module: Module


def look_up(m: Machine, name: str, node: ast.AST, frame: Frame) -> Value:
    """The value of a name."""
    if name in frame.env and name not in frame.shared:
        found = frame.env[name]
    else:
        closure = frame.func.closure if frame.func else None
        if closure is not None and name in closure:
            found = closure[name]
        else:
            found = global_value(m, frame.module, name)
    return used(found, node, frame, name)


def used(value: Value, node: ast.AST, frame: Frame, name: str) -> Value:
    """A value where it is used under a name: for a constant, that is its place."""
    if isinstance(value, Const) and not value.fixed:
        return Const(value.value, (frame.module, node), name)
    return value


def global_value(m: Machine, module: Module, name: str) -> Value:
    """The value of a name of a module's top level."""
    key: Key = ("global", module.file.path)
    cache = m.globals
    if (*key, name) in cache:
        return cache[(*key, name)]
    found = module.names.get(name)
    if not found:
        return Ref(f"builtins.{name}") if name in _BUILTINS else keyed(key, name)
    cache[(*key, name)] = keyed(key, name)  # for one that is made of itself
    value = _bound(m, module, name, found)
    if name in module.set_by_functions and not isinstance(value, Func | Class | Ref | Loaded):
        if isinstance(value, Obj):
            m.stored(key, name, value)
        value = m.seen_as(key, name)
    cache[(*key, name)] = value
    return value


def _bound(m: Machine, module: Module, name: str, found: list[Binding]) -> Value:
    unknown = keyed(("global", module.file.path), name)
    for one in found:
        if isinstance(one, tuple):
            return imported(m, module, one)
    last = found[-1]
    if isinstance(last, ast.ClassDef):
        return Class(last, module)
    if isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef):
        return decorators.applied(m, Func(last, module))
    written = [one for one in found if not _is_none(one)] or found[:1]
    if len(written) == 1 and isinstance(written[0], ast.expr):
        chain, m.chain = m.chain, ()
        with m.quiet():
            value = m.evaluate(written[0], Frame(module, {}))
        m.chain = chain
        return unknown if isinstance(value, Unknown) else value
    return unknown


def _is_none(node: Binding) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def imported(m: Machine, module: Module, source: tuple[str, str, int]) -> Value:
    """What an import statement gives."""
    name, attribute, level = source
    top = name.partition(".")[0]
    if level or (top not in _STANDARD and top not in m.packages):
        target = module.imported(name, level)
        if target is not None:
            if not attribute:
                return Loaded(target)
            if attribute in target.names:
                return global_value(m, target, attribute)
        if attribute:
            dotted = ".".join(part for part in (name, attribute) if part)
            inner = module.imported(dotted, level)
            if inner is not None:
                return Loaded(inner)
    parts = ["." * level + name, attribute] if attribute else [name]
    return Ref(".".join(part for part in parts if part))


# attributes


def attribute(m: Machine, value: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    """The value of an attribute."""
    if isinstance(value, Ref):
        return Ref(f"{value.name}.{name}")
    if isinstance(value, Loaded):
        if name in value.module.names:
            return used(global_value(m, value.module, name), node, frame, name)
        inner = value.module.imported(name, 1)
        return Loaded(inner) if inner is not None else UNKNOWN
    if isinstance(value, Instance):
        if name in value.attributes:
            return used(value.attributes[name], node, frame, name)
        return _of_class(m, value.cls, value, name, node, frame)
    if isinstance(value, Class):
        return _of_class(m, value, None, name, node, frame)
    if isinstance(value, Obj):
        return _of_object(m, value, name)
    if isinstance(value, Unknown):
        if name == "basic" and m.client(Client.PIKA, Client.AMQPSTORM) is Client.AMQPSTORM:
            return Obj(Kind.BASIC, value.key or ("?",), Client.AMQPSTORM)
        if name in METHODS:
            return Method(value, name)
        return Unknown((*value.key, name) if value.key else None, value.taint)
    return Method(value, name) if isinstance(value, Items | Const) else UNKNOWN


def _of_object(m: Machine, value: Obj, name: str) -> Value:
    if name in value.data:
        return value.data[name]
    if value.kind is Kind.MESSAGE:
        if name in ("delivery_tag", "delivery", "delivery_info"):
            return Unknown(None, frozenset((TAG,)))
        if name not in METHODS:
            return Unknown(None, DELIVERY - {TAG})
    if value.kind is Kind.CONNECTION and name == "default_channel":
        return m.new_channel((*value.key, name), value.client, None, value)
    if value.kind is Kind.CHANNEL and name == "basic":
        return Obj(Kind.BASIC, value.key, value.client, {"channel": value})
    if value.kind is Kind.CONSUMER and name == "channel" and (channel := value.of("channel")):
        return channel
    return Method(value, name)


def lineage(m: Machine, cls: Class) -> list[Class | Value]:
    """A class and those it inherits from, nearest first; others as what they are."""
    if cls.node in m.lineages:
        return m.lineages[cls.node]
    waiting: list[Value] = [cls]
    seen: set[ast.AST] = set()
    found: list[Class | Value] = []
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, Class):
            if one.node in seen:
                continue
            seen.add(one.node)
            if one.node.bases:
                with m.quiet():
                    frame = Frame(one.module, {})
                    waiting += [m.evaluate(base, frame) for base in one.node.bases]
        found.append(one)
    m.lineages[cls.node] = found
    return found


def has_unknown_base(m: Machine, cls: Class) -> bool:
    """It inherits from something that was not read."""
    return any(
        not isinstance(base, Class)
        and not (isinstance(base, Ref) and base.name.rpartition(".")[2] in _PLAIN_BASES)
        for base in lineage(m, cls)
    )


def method_of(m: Machine, cls: Class, name: str) -> tuple[Member, Class] | None:
    """What a class or the nearest that it inherits from binds a name to."""
    for one in lineage(m, cls):
        if isinstance(one, Class):
            found = one.module.members(one.node).get(name)
            if found is not None:
                return found, one
    return None


def _of_class(
    m: Machine, cls: Class, instance: Instance | None, name: str, node: ast.AST, frame: Frame
) -> Value:
    found = method_of(m, cls, name)
    if found is None:
        return m.seen_as(class_key(cls), name)
    definition, owner = found
    if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        marks = {
            decorator.id
            for decorator in definition.decorator_list
            if isinstance(decorator, ast.Name)
        }
        bound = None if "staticmethod" in marks else instance
        if "classmethod" in marks:
            bound = instance or Instance(cls)
        func = Func(definition, owner.module, owner, bound)
        if marks & {"property", "cached_property"} and instance is not None:
            return m.call(func, Arguments(), node, frame)
        return decorators.applied(m, func)
    with m.quiet():
        value = m.evaluate(definition, Frame(owner.module, {}))
    if isinstance(value, Const):
        current = frame.func.owner if frame.func else None
        if current is not None and current.node is not owner.node:
            return replace(value, fixed=True)
        return used(value, node, frame, name)
    return keyed(class_key(owner), name) if isinstance(value, Unknown) else value
