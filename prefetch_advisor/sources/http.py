"""GET and nothing else from the management API: bounded in time, size, retries and redirects."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode, urljoin, urlsplit

import orjson
import requests
import urllib3.exceptions

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources import http_errors
from prefetch_advisor.sources.certificates import check_certificates
from prefetch_advisor.sources.endpoint import Connection
from prefetch_advisor.sources.http_errors import ApiError, BadAnswer, Failed, NotFound, Unreachable
from prefetch_advisor.sources.json_text import CUT_OFF, decode, documents
from prefetch_advisor.sources.redaction import basic_credentials
from prefetch_advisor.sources.tcp import answers_amqp

TRIES: Final = 3
#: seconds before the second try; doubled before each further one
PAUSE: Final = 0.25
REDIRECTS: Final = 3
LARGEST: Final = 512 << 20
_CONNECT_SECONDS = 10.0
_CHUNK = 1 << 18
_AGAIN = frozenset((429, 500, 502, 503, 504))
_MOVED = frozenset((301, 302, 303, 307, 308))
_LONGEST_WAIT = 5.0
_LOOK_SECONDS = 0.5
#: what a proxy may have answered in place of the broker
_OF_SOMETHING_ELSE = (NotFound, BadAnswer, Failed)


def segment(name: str) -> str:
    """A virtual host, queue, channel or connection as one part of a path."""
    return quote(name, safe="", errors="surrogateescape")


class _Basic(requests.auth.AuthBase):
    """Basic authentication in UTF-8, which brokers expect; the library would take Latin-1."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        credentials = basic_credentials(self._connection)
        request.headers["Authorization"] = f"Basic {credentials}"
        return request


@dataclass(slots=True)
class _Answer:
    status: int
    kind: str
    body: bytes = field(repr=False)
    wait: str | None


@dataclass(slots=True)
class _Job:
    """One question, asked in a thread of its own, so that nothing can outlast its time."""

    done: threading.Event = field(default_factory=threading.Event)
    given_up: bool = False
    #: something of the answer has come
    connected: bool = False
    answer: _Answer | None = None
    error: BaseException | None = field(default=None, repr=False)


class Client:
    """The management API behind one connection. Use from one thread.

    Raises:
        InputError: a certificate or key file that cannot be used.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        tries: int = TRIES,
        pause: float = PAUSE,
        largest: int = LARGEST,
    ) -> None:
        self.connection = connection
        self._tries = tries
        self._pause = pause
        self._largest = largest
        check_certificates(connection)
        if connection.insecure:
            warnings.filterwarnings("ignore", category=urllib3.exceptions.InsecureRequestWarning)
        environment = not connection.loopback
        self._proxied = environment and bool(
            requests.utils.get_environ_proxies(connection.base_url, no_proxy=None)
        )
        self._session = self._new_session()

    def _new_session(self) -> requests.Session:
        connection = self.connection
        session = requests.Session()
        session.auth = _Basic(connection)
        # a proxy of the environment is for other machines
        session.trust_env = not connection.loopback
        session.verify = connection.tls_ca_cert_file or True
        if connection.insecure:
            session.verify = False
        if connection.tls_cert_file is not None:
            key = connection.tls_key_file
            pair = connection.tls_cert_file if key is None else (connection.tls_cert_file, key)
            session.cert = pair
        session.headers["User-Agent"] = "prefetch-advisor"
        # packing costs the broker more time than loopback needs for the bytes
        session.headers["Accept-Encoding"] = "identity" if connection.loopback else "gzip"
        return session

    def close(self) -> None:
        """Closes the connections that were kept open."""
        self._session.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def where(self, path: str) -> str:
        """The address of ``path``, for a person: no query, no user information."""
        return f"{self.connection.base_url}{self.connection.path_prefix}{path}"

    def get(self, path: str, query: Mapping[str, object] | None = None) -> object:
        """The JSON document at ``path``, which starts with /api and is percent-encoded.

        Raises:
            ApiError: what went wrong and what to do, in one line; the password is in none of its
                parts.
        """
        url = self.where(path)
        if query:
            url += "?" + urlencode(query, quote_via=quote, safe=",.", errors="surrogateescape")
        deadline = time.monotonic() + self.connection.timeout
        pause = self._pause
        for remaining in range(self._tries - 1, -1, -1):
            answer, failure, again = self._ask(url, path, deadline)
            if failure is None and answer is not None:
                document, failure = self._parsed(answer, path)
                if failure is None:
                    return document
                again = answer.status in _AGAIN
            wait = max(pause, _seconds(answer.wait if answer is not None else None))
            if not again or not remaining or time.monotonic() + wait >= deadline:
                break
            time.sleep(wait)
            pause *= 2
        if failure is None:
            raise AssertionError("no try was made")
        if self._proxied:
            if isinstance(failure, _OF_SOMETHING_ELSE):
                failure = http_errors.through_proxy(failure, self.connection)
        elif again and isinstance(failure, Unreachable) and self._meets_amqp():
            failure = http_errors.amqp_port(self.connection)
        # outside of every handler: no exception that knows the request hangs on it
        raise failure

    def _meets_amqp(self) -> bool:
        """Looked at where the other side broke off: what it sent before that may be lost."""
        there = self.connection
        return answers_amqp(there.host, there.port, _LOOK_SECONDS)

    def _ask(
        self, url: str, path: str, deadline: float
    ) -> tuple[_Answer | None, ApiError | None, bool]:
        """The answer, or what went wrong and whether to try again."""
        job = _Job()
        arguments = (self._session, url, path, deadline, job)
        threading.Thread(target=self._run, args=arguments, daemon=True).start()
        try:
            finished = job.done.wait(max(0.0, deadline - time.monotonic()) + 0.05)
        except BaseException:
            job.given_up = True
            raise
        if not finished:
            job.given_up = True
            # the thread ends with its connection; a new session shares nothing with it
            self._session = self._new_session()
            return None, http_errors.timed_out(self.connection, path), False
        error = job.error
        if error is None:
            return job.answer, None, False
        return None, self._failure(error, job, path), http_errors.is_broken_off(error)

    def _failure(self, error: BaseException, job: _Job, path: str) -> ApiError:
        connection = self.connection
        if isinstance(error, ApiError):
            return error
        if isinstance(error, requests.exceptions.ProxyError):
            return http_errors.proxy_failed(connection, path)
        if isinstance(error, requests.exceptions.ContentDecodingError):
            return http_errors.spoiled(connection, path)
        timeouts = (requests.exceptions.Timeout, urllib3.exceptions.ReadTimeoutError, TimeoutError)
        found = list(http_errors.causes(error))
        if any(isinstance(one, requests.exceptions.ConnectTimeout) for one in found):
            seconds = min(_CONNECT_SECONDS, connection.timeout)
            return http_errors.no_connection(connection, seconds)
        if any(isinstance(one, timeouts) for one in found):
            return http_errors.timed_out(connection, path)
        if job.connected and http_errors.is_broken_off(error):
            return http_errors.half(connection, path)
        return http_errors.from_exception(error, connection, path)

    def _run(
        self, session: requests.Session, url: str, path: str, deadline: float, job: _Job
    ) -> None:
        try:
            job.answer = self._fetch(session, url, path, deadline, job)
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            job.error = error
        except (ApiError, OSError, ValueError, EOFError) as error:
            job.error = error
        finally:
            job.done.set()

    def _fetch(
        self, session: requests.Session, url: str, path: str, deadline: float, job: _Job
    ) -> _Answer:
        for _ in range(REDIRECTS + 1):
            left = max(0.001, deadline - time.monotonic())
            with closing(
                session.get(
                    url,
                    stream=True,
                    allow_redirects=False,
                    timeout=(min(_CONNECT_SECONDS, left), left),
                    # said here too: an environment's bundle would win over the session
                    verify=session.verify,
                )
            ) as response:
                job.connected = True
                target = response.headers.get("Location")
                if response.status_code not in _MOVED or not target:
                    return _Answer(
                        response.status_code,
                        response.headers.get("Content-Type", ""),
                        self._body(response, path, job),
                        response.headers.get("Retry-After"),
                    )
            moved = urljoin(url, target)
            if not _same_place(url, moved):
                raise http_errors.redirected(self.connection, path, moved)
            url = moved
        raise http_errors.endless_redirect(self.connection, path, REDIRECTS)

    def _body(self, response: requests.Response, path: str, job: _Job) -> bytes:
        pieces = []
        size = 0
        for piece in response.iter_content(_CHUNK):
            size += len(piece)
            if size > self._largest:
                raise http_errors.too_large(self.connection, path, self._largest)
            if job.given_up:
                break
            pieces.append(piece)
        return b"".join(pieces)

    def _parsed(self, answer: _Answer, path: str) -> tuple[object, ApiError | None]:
        """The document, or what is wrong with the answer."""
        if answer.status != 200:
            return None, self._refusal(answer, path)
        try:
            return orjson.loads(answer.body), None
        except orjson.JSONDecodeError:
            pass  # NaN, names that are not UTF-8, half a document, no JSON
        text = decode(answer.body)
        try:
            (document,) = documents(text, "")
        except InputError as error:
            wrong = str(error)
        except ValueError:
            wrong = "more than one document"
        else:
            return document, None
        if text.lstrip()[:1] in ("{", "[") and "html" not in answer.kind:
            if wrong.endswith(CUT_OFF):
                return None, http_errors.half(self.connection, path)
            return None, http_errors.unreadable(self.connection, path, wrong)
        return None, http_errors.not_json(self.connection, path, answer.kind, text)

    def _refusal(self, answer: _Answer, path: str) -> ApiError:
        text = decode(answer.body[:_CHUNK])
        document: object = None
        if text.lstrip().startswith("{"):
            try:
                document = orjson.loads(answer.body)
            except orjson.JSONDecodeError:
                document = None
        return http_errors.from_status(answer.status, document, self.connection, path, text)


def _same_place(url: str, target: str) -> bool:
    """Whether a redirect stays with the server that the password was given for."""
    try:
        old, new = urlsplit(url), urlsplit(target)
        # a new port is the same server only where plain HTTP is raised to TLS
        raised = (old.scheme, new.scheme) == ("http", "https")
        stays = old.scheme == new.scheme and old.port == new.port
        clean = new.username is None and new.password is None
    except ValueError:
        return False
    return clean and old.hostname == new.hostname and (stays or raised)


def _seconds(retry_after: str | None) -> float:
    """What ``Retry-After`` asks for, as far as anybody wants to wait."""
    text = (retry_after or "").strip()
    seconds = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    return min(float(seconds), _LONGEST_WAIT)
