"""Formulas of queueing theory, confidence and sampling: the only module that imports scipy."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from prefetch_advisor.model.timing import Floats

_NEGLIGIBLE = 1e-17
_HUGE = 1e250
#: the largest below 1 of those that ``random`` gives
_LARGEST_SHARE = 1 - 2.0**-53
#: round trips in units of the work from which on no message ever waits for another
_NEVER_MEET = 1e40


def _check_load(servers: int, load: float) -> None:
    if servers < 0 or not math.isfinite(load) or load < 0:
        raise ValueError(f"no queue has {servers} servers at a load of {load}")


def _inverse_erlang_b(servers: int, load: float) -> float:
    """1 / ErlangB, ``inf`` where it exceeds 1e250.

    Sum over j of n (n - 1) ... (n - j + 1) / load^j: every term is positive, so nothing
    cancels, and near n = load about sqrt(load) of them count.
    """
    if load == 0:
        return 1.0 if servers == 0 else math.inf
    total = term = 1.0
    for n in range(servers, 0, -1):
        term *= n / load
        total += term
        if term < total * _NEGLIGIBLE:
            break
        if total > _HUGE:
            return math.inf
    return total


def erlang_b(servers: int, load: float) -> float:
    """Share of calls lost with ``servers`` lines and ``load`` erlangs offered (M/G/n/n)."""
    _check_load(servers, load)
    return 1 / _inverse_erlang_b(servers, load)


def erlang_servers(load: float, loss: float, most: int) -> int:
    """The fewest servers, up to ``most``, that lose no more than ``loss`` of ``load`` erlangs."""
    _check_load(most, load)
    servers, inverse = 0, 1.0
    while inverse * loss < 1 and servers < most:
        servers += 1
        inverse = 1 + inverse * servers / load if load else math.inf
    return servers


def erlang_c(servers: int, load: float) -> float:
    """Share of messages that wait for one of ``servers`` workers (M/M/n); 1 when overloaded."""
    _check_load(servers, load)
    if load >= servers:
        return 1.0
    lost = erlang_b(servers, load)
    return lost / (1 - load / servers * (1 - lost))


def tandem_busy_share(prefetch: int, processing: float, rtt: float, workers: int = 1) -> float:
    """Busy share of ``workers`` exponential servers fed by ``prefetch`` tokens (Gordon-Newell).

    The tokens circle between the servers (mean ``processing`` each) and a delay of mean ``rtt``
    of any distribution. With r = rtt / processing, j tokens in the delay weigh (r k)^j / j!
    while all k servers work (their sum is an Erlang B term of M = N - k), and
    u_i = u_(i-1) r (k - i + 1) / (M + i) when i of them idle. For one server it is
    1 - ErlangB(N, r).
    """
    if prefetch < 1 or workers < 1 or not 0 < processing < math.inf or not 0 <= rtt < math.inf:
        raise ValueError(f"no busy share for {prefetch=} {processing=} {rtt=} {workers=}")
    waiting = prefetch - workers
    ratio = rtt / processing
    if waiting < 0 or ratio > _NEVER_MEET:
        return prefetch * processing / (workers * (processing + rtt))
    total = _inverse_erlang_b(waiting, ratio * workers)
    if math.isinf(total):
        return 1.0
    busy = workers * total
    weight = 1.0
    for idle in range(1, workers + 1):
        weight *= ratio * (workers - idle + 1) / (waiting + idle)
        total += weight
        busy += (workers - idle) * weight
        if total > _HUGE:
            total, busy, weight = total / _HUGE, busy / _HUGE, weight / _HUGE
    return min(1.0, busy / (workers * total))


def mean_interval(
    mean: float, cv: float, count: int, level: float = 0.95
) -> tuple[float, float] | None:
    """Student's t confidence interval of a mean of ``count`` values, cut at 0.

    ``None`` below two values, where nothing is known of the spread.
    """
    if count < 2 or not (math.isfinite(mean) and math.isfinite(cv)):
        return None
    if cv == 0:
        return (mean, mean)
    from scipy.special import stdtrit

    half = float(stdtrit(count - 1, (1 + level) / 2)) * cv * mean / math.sqrt(count)
    return (max(0.0, mean - half), mean + half)


def permutation(count: int, seed: int) -> npt.NDArray[np.intp]:
    """0 ... ``count`` - 1 shuffled: the same for a seed on every platform."""
    import numpy as np

    keys = np.frombuffer(random.Random(seed).randbytes(8 * count), dtype="<u8")
    return np.argsort(keys, kind="stable")


def drawn_indices(count: int, below: int, generator: random.Random) -> npt.NDArray[np.intp]:
    """``count`` indices from 0 to ``below`` - 1, drawn with replacement."""
    import numpy as np

    words = np.frombuffer(generator.randbytes(8 * count), dtype="<u8")
    return (words % np.uint64(below)).astype(np.intp)


def lognormal_quantile(mean: float, cv: float, share: float) -> float:
    """The value that ``share`` of lognormal times of this mean and CV stay below."""
    if cv == 0:
        return mean
    from scipy.special import ndtri

    sigma = math.sqrt(math.log1p(cv * cv))
    return mean * math.exp(sigma * float(ndtri(share)) - sigma * sigma / 2)


def lognormal_sample(mean: float, cv: float, count: int, seed: int) -> Floats:
    """``count`` lognormal times of exactly this mean, one from each of as many equal strata.

    Each is the mean of its stratum, n mean (Phi(z(i+1) - s) - Phi(z(i) - s)) with
    s^2 = ln(1 + cv^2): quantiles at the middles would cut off the tail that matters most.
    Shuffled by ``seed``.
    """
    import numpy as np
    from scipy.special import ndtr, ndtri

    if count < 1 or not 0 < mean < math.inf or not 0 <= cv < math.inf:
        raise ValueError(f"no lognormal sample of {count=} {mean=} {cv=}")
    if cv == 0:
        return np.full(count, mean)
    sigma = math.sqrt(math.log1p(cv * cv))
    edges = ndtri(np.arange(count + 1) / count)
    values = np.maximum(np.diff(ndtr(edges - sigma)), 0.0)
    values *= mean / (values.sum() / count)
    shuffled: Floats = values[permutation(count, seed)]
    return shuffled


def normal_quantiles(shares: list[float]) -> list[float]:
    """Standard normal values that these shares of all values stay below; 1 gives the largest."""
    import numpy as np
    from scipy.special import ndtri

    below: list[float] = np.asarray(ndtri(np.minimum(shares, _LARGEST_SHARE))).tolist()
    return below


def gamma_quantiles(form: float, shares: list[float]) -> list[float]:
    """Gamma values of shape ``form`` and scale 1 that these shares of all values stay above."""
    import numpy as np
    from scipy.special import gammainccinv

    above: list[float] = np.asarray(gammainccinv(form, np.minimum(shares, _LARGEST_SHARE))).tolist()
    return above
