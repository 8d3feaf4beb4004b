"""Values of Python expressions that are certain without running them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from prefetch_advisor.lint.kinds.celery.facts import UNKNOWN, Broker, Value

#: sums of products are written this deep, no deeper
_DEEPEST = 20
_LARGEST = 10**15
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_SECONDS = {
    "weeks": 604_800,
    "days": 86_400,
    "hours": 3_600,
    "minutes": 60,
    "seconds": 1,
    "milliseconds": 0.001,
}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_AMQP = {"amqp", "amqps", "pyamqp", "librabbitmq"}
_OTHERS = {
    *("redis", "rediss", "sentinel", "sqs", "memory", "filesystem", "mongodb", "azureservicebus"),
    *("azurestoragequeues", "gcpubsub", "confluentkafka", "kafka", "sqla", "sqlalchemy", "etcd"),
    *("zookeeper", "consul", "slmq", "qpid", "pyro", "django", "valkey", "valkeys"),
}


def constants(body: Iterable[ast.stmt]) -> dict[str, ast.expr | None]:
    """Names that a block sets, with what they are; ``None`` where that depends on the run."""
    found: dict[str, ast.expr | None] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in _names(target):
                    found[name] = statement.value if isinstance(target, ast.Name) else None
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found[statement.target.id] = statement.value
        else:
            # in a branch, a loop, a function or an import: it may or may not happen
            found.update(dict.fromkeys(_bound(statement)))
    return found


def _names(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name  # its own names are no names of the block
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


class Values:
    """Expressions of one module, its constants followed."""

    def __init__(self, names: Mapping[str, ast.expr | None]) -> None:
        self._names = names

    def inside(self, names: Mapping[str, ast.expr | None]) -> Values:
        """The same where further names hold, such as in the body of a class."""
        return Values({**self._names, **names})

    def of(self, node: ast.expr | None, depth: int = 0) -> Value:
        """The value, seconds for a ``timedelta``; ``UNKNOWN`` for what needs the program to run.

        The default of an environment variable is not its value.
        """
        if node is None or depth > _DEEPEST:
            return UNKNOWN
        if isinstance(node, ast.Constant):
            plain = isinstance(node.value, int | float | str) or node.value is None
            return node.value if plain else UNKNOWN  # type: ignore[return-value]
        if isinstance(node, ast.Name):
            return self.of(self._names.get(node.id), depth + 1)
        if isinstance(node, ast.UnaryOp):
            return _signed(node.op, self.of(node.operand, depth + 1))
        if isinstance(node, ast.BinOp):
            left, right = self.of(node.left, depth + 1), self.of(node.right, depth + 1)
            return _computed(type(node.op), left, right)
        if isinstance(node, ast.Call):
            return self._call(node, depth + 1)
        return UNKNOWN

    def expression(self, node: ast.expr | None) -> ast.expr | None:
        """The expression that a name stands for, or the expression itself."""
        for _ in range(_DEEPEST):
            if not isinstance(node, ast.Name):
                return node
            node = self._names.get(node.id)
        return None

    def _call(self, node: ast.Call, depth: int) -> Value:
        name = last_name(node.func)
        if name == "timedelta" and not node.args:
            parts = [(_SECONDS.get(each.arg or ""), each.value) for each in node.keywords]
            seconds = 0.0
            for factor, expression in parts:
                value = self.of(expression, depth)
                if factor is None or isinstance(value, str) or not isinstance(value, int | float):
                    return UNKNOWN
                seconds += factor * value
            return seconds
        if name == "total_seconds" and isinstance(node.func, ast.Attribute):
            return self.of(node.func.value, depth)
        if name in ("int", "float", "bool") and isinstance(node.func, ast.Name):
            if len(node.args) != 1 or node.keywords:
                return UNKNOWN
            return _converted(name, self.of(node.args[0], depth))
        return UNKNOWN

    def brokers(self, node: ast.expr | None) -> set[Broker]:
        """The sorts of broker whose addresses, or names, stand anywhere in an expression.

        Names, as in ``settings.REDIS_URL``, count where no address does.
        """
        found: set[Broker] = set()
        named: set[Broker] = set()
        waiting, seen = [node], 0
        while waiting and (seen := seen + 1) < 200:
            for each in ast.walk(waiting.pop() or ast.Pass()):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    found |= {kind} if (kind := broker(each.value)) else set()
                    named |= _by_name(each.value)
                elif isinstance(each, ast.Name | ast.Attribute):
                    named |= _by_name(last_name(each))
                    if isinstance(each, ast.Name) and seen < _DEEPEST:
                        waiting.append(self._names.get(each.id))
        return found or named


def _by_name(name: str) -> set[Broker]:
    lower = name.lower()
    if any(word in lower for word in ("redis", "sqs", "valkey")):
        return {"other"}
    return {"amqp"} if "rabbit" in lower or "amqp" in lower else set()


def broker(text: str) -> Broker | None:
    """The sort of broker an address is of; ``None``: no address of one."""
    scheme = _SCHEME.match(text.strip())
    if scheme is None:
        return None
    name = scheme[1].lower().partition("+")[0]
    return "amqp" if name in _AMQP else "other" if name in _OTHERS else None


def transport(text: str) -> Broker | None:
    """The sort of broker that the name of a transport is of."""
    return broker(f"{text}://") or broker(f"{text.rpartition(':')[0].rpartition('.')[2]}://")


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; empty for what is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _signed(sign: ast.unaryop, value: Value) -> Value:
    if isinstance(sign, ast.Not):
        return UNKNOWN if value is UNKNOWN else not value
    if isinstance(value, int | float):
        return -value if isinstance(sign, ast.USub) else UNKNOWN
    return UNKNOWN


def _computed(kind: type[ast.operator], left: Value, right: Value) -> Value:
    apply = _OPERATORS.get(kind)
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if apply is None or not numbers or (kind in (ast.Div, ast.FloorDiv) and not right):
        return UNKNOWN
    if abs(left) > _LARGEST or abs(right) > _LARGEST:  # type: ignore[arg-type]
        return UNKNOWN
    return apply(left, right)  # type: ignore[arg-type]


def _converted(name: str, value: Value) -> Value:
    if value is UNKNOWN or value is None or (isinstance(value, str) and len(value) > 30):
        return UNKNOWN
    try:
        return bool(value) if name == "bool" else int(value) if name == "int" else float(value)
    except (ValueError, OverflowError):
        return UNKNOWN
