"""Whatever answers in place of a broker gets its own sentence, in bounded time, no password."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import socket
import ssl
import time
import traceback
from pathlib import Path

import certificates
import pytest
from misbehaving import (
    Server,
    in_turn,
    reply,
    resets,
    says,
    serving,
    silent,
    trickles,
)

from prefetch_advisor.errors import AdvisorError, ExitCode, InputError, UsageError
from prefetch_advisor.sources.connection import Connection, resolve
from prefetch_advisor.sources.http import Client, segment
from prefetch_advisor.sources.http_errors import (
    ApiError,
    BadAnswer,
    Failed,
    NotFound,
    Refused,
    TimedOut,
    Unreachable,
)

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
PASSWORD = "s3cr3t-Pa55wörd"
USER = "ops"
#: how a header carries it
ENCODED = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
NOWHERE = Path("/nonexistent")
HTML = b"<!DOCTYPE html><html><title>Log in</title></html>"


def connection(port: int, **options: object) -> Connection:
    given = {"host": "127.0.0.1", "port": port, "username": USER, "password": PASSWORD}
    return resolve({**given, "timeout": 3, **options}, {}, NOWHERE)


def ask(server: Server | int, path: str = "/api/overview", **options: object) -> object:
    port = server if isinstance(server, int) else server.port
    with Client(connection(port, **options), pause=0.01) as client:
        return client.get(path)


def failure(server: Server | int, path: str = "/api/overview", **options: object) -> ApiError:
    """The error, checked for what all have in common."""
    started = time.monotonic()
    with pytest.raises(ApiError) as caught:
        ask(server, path, **options)
    assert time.monotonic() - started < 5
    error = caught.value
    assert_silent(error)
    assert error.exit_code == ExitCode.COULD_NOT_RUN
    assert error.__context__ is None
    return error


def assert_silent(error: BaseException) -> None:
    shown = "".join(traceback.format_exception(error))
    shown += repr(error) + repr(error.args) + repr(getattr(error, "__dict__", {}))
    for secret in (PASSWORD, ENCODED, PASSWORD[:10]):
        assert secret not in shown
    assert len(str(error).splitlines()) == 1


def capture(name: str) -> bytes:
    return (CAPTURES / name).read_bytes()


def test_a_document_is_parsed_and_asked_for_with_get_alone():
    with serving(says(reply(b'{"rabbitmq_version": "4.3.6"}'))) as server:
        assert ask(server) == {"rabbitmq_version": "4.3.6"}
    (request,) = server.requests
    assert request.startswith(b"GET /api/overview HTTP/1.1\r\n")
    # in UTF-8, which the broker compares with
    assert f"Authorization: Basic {ENCODED}\r\n".encode() in request


def test_names_are_one_part_of_a_path_whatever_they_hold():
    for name in ("/", "a/b c", "q1 in/vhost", "очередь", "%2F", "?x=#y", "tab\there", "\udcff"):
        with serving(says(reply(b"{}"))) as server:
            ask(server, f"/api/queues/%2F/{segment(name)}", path_prefix="/rabbit/api")
        target = server.requests[0].split(b" ")[1].decode()
        assert target == f"/rabbit/api/queues/%2F/{segment(name)}"


def test_a_queue_name_that_is_no_utf8_and_a_number_that_is_none_are_read():
    with serving(says(reply(b'{"name": "\xff", "rate": NaN}'))) as server:
        document = ask(server)
    assert isinstance(document, dict)
    assert document["name"] == "\udcff"


def test_a_packed_answer_is_unpacked():
    packed = reply(gzip.compress(b"[1]"), "200 OK", "application/json", "Content-Encoding: gzip")
    with serving(says(packed)) as server:
        assert ask(server) == [1]


@pytest.mark.parametrize(
    ("name", "says_so"),
    [
        ("4.3-api_wrong_password.json", "not_authorized: Not_Authorized"),
        ("3.10-api_wrong_password.json", "not_authorized: Login failed"),
        ("3.10-api_user_without_tag.json", "not_authorised: Not management user"),
    ],
)
def test_401_names_both_reasons_and_what_the_broker_said(name, says_so):
    with serving(says(reply(capture(f"errors/{name}"), "401 Unauthorized"))) as server:
        error = failure(server)
    assert isinstance(error, Refused)
    assert error.status == 401
    for words in (says_so, "user 'ops' (--username", "password is wrong", "no management tag"):
        assert words in str(error)
    assert len(server.requests) == 1


def test_401_for_a_virtual_host_names_the_permission():
    body = b'{"error":"not_authorised","reason":"User not authorised to access virtual host"}'
    with serving(says(reply(body, "401 Unauthorized"))) as server:
        assert "no permission in this virtual host" in str(failure(server))


def test_403_is_refused_too():
    with serving(says(reply(b"{}", "403 Forbidden"))) as server:
        error = failure(server)
    assert isinstance(error, Refused)
    assert "may not see this (403)" in str(error)


def test_404_of_the_broker_is_told_from_404_of_anything_else():
    with serving(says(reply(capture("errors/4.3-api_not_found.json"), "404 Not Found"))) as server:
        error = failure(server)
    assert isinstance(error, NotFound)
    assert "the broker has no such thing (404, Object Not Found: Not Found)" in str(error)
    # what every broker has
    assert "does it need --path-prefix?" in str(error)
    with serving(says(reply(HTML, "404 Not Found", "text/html"))) as server:
        error = failure(server, path_prefix="/rabbit")
    assert isinstance(error, NotFound)
    assert "--path-prefix, now /rabbit" in str(error)
    assert "rabbitmq_management" in str(error)


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (HTML, "text/html", "brings an HTML page: a login page or a proxy"),
        (capture("errors/4.3-ui_page.html"), "text/html", "brings an HTML page"),
        (b"OK", "text/plain", "brings no JSON"),
        (b"", "application/json", "brings an empty answer"),
    ],
)
def test_an_answer_that_is_no_json_is_said(body, kind, words):
    with serving(says(reply(body, "200 OK", kind))) as server:
        error = failure(server)
    assert isinstance(error, BadAnswer)
    assert words in str(error)


def test_a_closed_port_names_the_plugin_and_the_usual_ports():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = failure(port)
    assert isinstance(error, Unreachable)
    assert "nothing listens there" in str(error)
    assert "rabbitmq_management" in str(error)
    assert "15672, with TLS on 15671" in str(error)


def test_a_port_that_was_only_assumed_is_said_to_be():
    there = resolve({"base_uri": f"https://{USER}:x@127.0.0.1"}, {}, NOWHERE)
    with Client(there) as client, pytest.raises(Unreachable, match="which names no port"):
        client.get("/api/overview")


def test_the_amqp_port_is_recognised():
    with serving(says(b"AMQP\x00\x00\x09\x01")) as server:
        error = failure(server)
    assert isinstance(error, Unreachable)
    assert "this looks like the AMQP port 5672; the management API listens on 15672" in str(error)


def test_the_amqp_port_is_recognised_where_its_answer_is_lost():
    def behave(end):
        # a broker reads no more than a header; closing with the rest unread is a reset
        if not server.requests[-1].startswith(b"GET / HT") or b"/api" in server.requests[-1]:
            resets(end)
        else:
            end.sendall(b"AMQP\x00\x00\x09\x01")

    with serving(behave, least=8) as server:
        assert "this looks like the AMQP port 5672" in str(failure(server))


def test_a_port_that_closes_at_once_may_be_the_amqp_port():
    with serving(says(b"")) as server:
        error = failure(server)
    assert isinstance(error, Unreachable)
    assert "closed the connection without an answer" in str(error)
    assert "AMQP port" in str(error)
    # and a look at whether it speaks AMQP
    assert [request[:8] for request in server.requests] == [b"GET /api"] * 3 + [b"GET / HT"]


def test_another_protocol_is_shown_without_its_control_characters():
    with serving(says(b"SSH-2.0-OpenSSH\x1b[31m\r\n")) as server:
        error = failure(server)
    assert "does not speak HTTP" in str(error)
    assert "SSH-2.0" in str(error)
    assert "\x1b" not in str(error)


def test_tls_on_a_plain_port_is_said():
    with serving(says(reply(b"{}", "400 Bad Request")), reads=False) as server:
        error = failure(server, use_tls=True)
    assert isinstance(error, Unreachable)
    assert "does not speak TLS: leave out --use-tls" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        b"\x15\x03\x01\x00\x02\x02\x46",
        reply(b"The plain HTTP request was sent to HTTPS port", "400 Bad Request", "text/html"),
    ],
    ids=["alert", "nginx"],
)
def test_plain_http_on_a_tls_port_is_said(answer):
    with serving(says(answer)) as server:
        assert "expects TLS: --use-tls" in str(failure(server))


def test_an_unknown_host_is_said():
    error = failure(15672, host="no-such-host.invalid")
    assert isinstance(error, Unreachable)
    assert "no-such-host.invalid: there is no host of this name (from --host" in str(error)


@pytest.mark.parametrize(
    "behave",
    [
        silent,
        trickles(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n[", b" ", 0.05),
        trickles(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.05),
        trickles(b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.05),
        trickles(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.05),
    ],
    ids=["no answer", "body", "chunks", "header", "headers"],
)
def test_a_page_that_never_comes_ends_with_the_timeout(behave):
    started = time.monotonic()
    with serving(behave) as server:
        error = failure(server, timeout=0.6)
        assert time.monotonic() - started < 1.6
    assert isinstance(error, TimedOut)
    assert "not answered, or not to its end, within 0.6 s (--timeout)" in str(error)


def test_after_a_page_that_never_came_the_next_question_is_answered():
    with serving(in_turn(b"", reply(b"[1]"))) as broken, serving(silent) as server:
        with Client(connection(server.port, timeout=0.3)) as client, pytest.raises(TimedOut):
            client.get("/api/queues")
        assert ask(broken) == [1]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1, 2",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n[1, 2",
        b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[{"name": "q',
    ],
    ids=["length", "chunks", "until it closes"],
)
def test_half_a_document_is_said(answer):
    with serving(says(answer)) as server:
        error = failure(server)
    assert isinstance(error, BadAnswer)
    assert "ends in the middle" in str(error)


def test_a_whole_document_that_cannot_be_read_is_not_called_cut_off():
    with serving(says(reply(b'[{"name": "q", }]'))) as server:
        error = failure(server)
    assert isinstance(error, BadAnswer)
    assert "cannot be read: 1:" in str(error)
    assert "in the middle" not in str(error)


def test_a_body_that_is_not_packed_as_it_says_is_said():
    spoiled = reply(b"[1, 2, 3]", "200 OK", "application/json", "Content-Encoding: gzip")
    with serving(says(spoiled)) as server:
        error = failure(server)
    assert isinstance(error, BadAnswer)
    assert "cannot be unpacked as its Content-Encoding says" in str(error)


@pytest.mark.parametrize(
    "headers", [[f"X-{i}: y" for i in range(500)], ["X: " + "y" * 70_000]], ids=["many", "long"]
)
def test_headers_beyond_reading_are_said(headers):
    with serving(says(reply(b"[]", "200 OK", "application/json", *headers))) as server:
        error = failure(server)
    assert isinstance(error, BadAnswer)
    assert "headers that cannot be read" in str(error)


def test_an_error_of_the_broker_is_shown_escaped():
    body = json.dumps({"error": "bad_request", "reason": f"no \x1b[31m {PASSWORD}\n here"}).encode()
    with serving(says(reply(body, "400 Bad Request"))) as server:
        error = failure(server)
    assert isinstance(error, Failed)
    assert error.status == 400
    assert r"answers 400, bad_request: no \x1b[31m *** here" in str(error)


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 x", "429 Too Many Requests"])
def test_what_may_pass_is_tried_again_a_few_times(status):
    with serving(in_turn(reply(b"{}", status), reply(b"[1]"))) as server:
        assert ask(server) == [1]
    with serving(says(reply(b'{"error": "x", "reason": "y"}', status))) as server:
        error = failure(server)
    assert f"answers {status[:3]}, x: y" in str(error)
    assert len(server.requests) == 3


def test_a_reset_is_tried_again_and_then_said():
    answers = [resets, says(reply(b"[1]"))]
    with serving(lambda end: answers.pop(0)(end)) as server:
        assert ask(server) == [1]
    with serving(resets) as server:
        error = failure(server)
    assert "closed the connection without an answer" in str(error)
    assert sum(request.startswith(b"GET /api/") for request in server.requests) == 3


def test_a_server_that_asks_to_wait_is_given_no_more_than_the_timeout():
    busy = reply(b"{}", "503 x", "application/json", "Retry-After: 3600")
    started = time.monotonic()
    with serving(says(busy)) as server:
        failure(server, timeout=1)
    assert time.monotonic() - started < 1.5


def moved(to: str, status: str = "302 Found") -> bytes:
    return reply(b"", status, "text/html", f"Location: {to}")


def test_a_redirect_to_another_host_is_not_followed_and_sends_no_password():
    with serving(says(reply(b"{}"))) as other:
        targets = [
            f"http://localhost:{other.port}/api/overview",
            f"//127.0.0.1:{other.port}/",
            f"http://u:{PASSWORD}@127.0.0.1:{other.port}/",
        ]
        for target in targets:
            with serving(says(moved(target))) as server:
                error = failure(server)
            assert isinstance(error, BadAnswer)
            assert "the password is not sent there" in str(error)
            assert str(other.port) in str(error)
    assert other.requests == []


def test_a_redirect_from_tls_to_plain_http_is_not_followed(tls):
    with serving(says(moved("http://127.0.0.1/"))) as plain:
        behave = says(moved(f"http://127.0.0.1:{plain.port}/api/overview"))
        with serving(behave, tls.server()) as server:
            error = failure(server, use_tls=True, tls_ca_cert_file=tls.ca)
        assert "the password is not sent there" in str(error)
        assert plain.requests == []


def test_redirects_on_the_same_host_are_followed_three_times():
    answers = in_turn(moved("/a", "301 x"), moved("/b", "307 x"), moved("/c"), reply(b"[1]"))
    with serving(answers) as server:
        assert ask(server) == [1]
    targets = [request.split(b" ")[1] for request in server.requests]
    assert targets == [b"/api/overview", b"/a", b"/b", b"/c"]
    with serving(says(moved("/again"))) as server:
        error = failure(server)
    assert "redirected more than 3 times" in str(error)
    assert len(server.requests) == 4


def test_a_redirect_to_nowhere_is_said():
    with serving(says(reply(b"", "302 Found"))) as server:
        assert "a redirect (302) that leads nowhere" in str(failure(server))


def test_an_answer_without_end_is_cut_at_the_largest_size():
    bomb = gzip.compress(b" " * (3 << 20))
    packed = reply(bomb, "200 OK", "application/json", "Content-Encoding: gzip")
    for answer in (reply(b" " * (3 << 20)), packed):
        with serving(says(answer)) as server:
            client = Client(connection(server.port), largest=2 << 20)
            with client, pytest.raises(BadAnswer, match="is larger than 2 MiB") as caught:
                client.get("/api/queues")
        assert_silent(caught.value)


def test_a_proxy_of_the_environment_is_for_other_machines(monkeypatch):
    with serving(says(b"")) as proxy, serving(says(reply(b"[1]"))) as server:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, f"http://pu:pp@127.0.0.1:{proxy.port}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        assert ask(server) == [1]
        error = failure(15672, host="broker.invalid")
    assert "pp" not in str(error).split()
    assert len(proxy.requests) >= 1
    assert b"broker.invalid" in proxy.requests[0]


class Tls:
    """Certificates made for this run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.ca = str(home / "ca.pem")
        self.client = {
            "tls_cert_file": str(home / "cert.pem"),
            "tls_key_file": str(home / "key.pem"),
        }

    def server(self, asks: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.home / "cert.pem", self.home / "key.pem")
        if asks:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.ca)
        return context


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    home = tmp_path_factory.mktemp("certificates")
    openssl = shutil.which("openssl")
    if openssl is None or certificates.make(home, "IP:127.0.0.1,DNS:localhost") is None:
        pytest.skip("no openssl to make certificates with")
    locked = "rsa -aes256 -in key.pem -out locked.pem -passout pass:" + "x" * 8
    certificates.run(openssl, locked, home)
    return Tls(home)


def test_a_certificate_of_an_own_authority_is_trusted_where_that_is_named(tls):
    with serving(says(reply(b"[1]")), tls.server()) as server:
        assert ask(server, use_tls=True, tls_ca_cert_file=tls.ca) == [1]
        assert ask(server, use_tls=True, insecure=True) == [1]


def test_a_bad_certificate_is_said_with_the_way_out(tls, monkeypatch):
    with serving(says(reply(b"[1]")), tls.server()) as server:
        error = failure(server, use_tls=True)
        assert isinstance(error, Unreachable)
        for words in ("its certificate is not trusted", "--tls-ca-cert-file", "-k to trust"):
            assert words in str(error)
        # a bundle of the environment is for who names none
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", tls.ca)
        assert server.requests == []


def test_a_certificate_for_another_name_is_said(tls):
    with serving(says(reply(b"[1]")), tls.server()) as server:
        error = failure(server, use_tls=True, tls_ca_cert_file=tls.ca, host="127.0.0.2")
    # nothing listens on 127.0.0.2 where the system binds the one address alone
    assert "127.0.0.2" in str(error)


def test_a_client_certificate_is_shown_and_its_absence_is_said(tls):
    with serving(says(reply(b"[1]")), tls.server(asks=True)) as server:
        assert ask(server, use_tls=True, tls_ca_cert_file=tls.ca, **tls.client) == [1]
        error = failure(server, use_tls=True, tls_ca_cert_file=tls.ca)
    assert isinstance(error, Unreachable)


def test_a_certificate_file_that_cannot_be_used_is_named_before_anything_is_sent(tls, tmp_path):
    (tmp_path / "empty.pem").write_text("")
    locked = {
        "tls_cert_file": tls.client["tls_cert_file"],
        "tls_key_file": f"{tls.home}/locked.pem",
    }
    for options, words in (
        ({"tls_ca_cert_file": str(tmp_path / "none.pem")}, r"none\.pem: expected certificates of"),
        ({"tls_ca_cert_file": str(tmp_path / "empty.pem")}, r"empty\.pem: expected certificates"),
        ({"tls_cert_file": tls.ca}, r"ca\.pem: expected a certificate and its own private key"),
        (locked, r"locked with a passphrase"),
    ):
        with pytest.raises(InputError, match=words):
            Client(connection(1, use_tls=True, **options))
    with pytest.raises(UsageError, match="asked by plain HTTP"):
        Client(connection(1, tls_ca_cert_file=tls.ca))


WAYS = {
    "option": ({"username": USER, "password": PASSWORD}, {}, ""),
    "base URI": ({"base_uri": "http://ops:s3cr3t-Pa55w%C3%B6rd@127.0.0.1:{port}"}, {}, ""),
    "variables": ({"username": USER}, {"RABBITMQADMIN_PASSWORD": PASSWORD}, ""),
    "INI": ({}, {}, f"[default]\nusername = {USER}\npassword = {PASSWORD}\n"),
    "TOML": ({}, {}, f'[default]\nusername = "{USER}"\npassword = "{PASSWORD}"\n'),
}
ERRORS = {
    "refused": says(reply(capture("errors/4.3-api_wrong_password.json"), "401 x")),
    "echoed": says(reply(json.dumps({"error": f"{USER}:{PASSWORD}"}).encode(), "500 x")),
    "echoed encoded": says(reply(json.dumps({"error": ENCODED}).encode(), "400 x")),
    "page": says(reply(HTML + PASSWORD.encode(), "200 OK", "text/html")),
    "gone": says(b""),
    "amqp": says(b"AMQP\0\0\x09\x01"),
    "other": says(f"{PASSWORD} {ENCODED}\r\n".encode()),
    "half": says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n["),
    "away": says(moved("http://elsewhere.invalid/?p=s3cr3t-Pa55w%C3%B6rd")),
    "silent": silent,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", ERRORS)
def test_the_password_is_in_no_error_however_it_was_given(way, wrong, tmp_path, capfd, caplog):
    caplog.set_level(0)
    options, environ, text = WAYS[way]
    (tmp_path / ".rabbitmqadmin.conf").write_text(text, "utf-8")
    with serving(ERRORS[wrong]) as server:
        given = {"host": "127.0.0.1", "port": server.port, "timeout": 0.4, **options}
        if "base_uri" in given:
            given["base_uri"] = str(given["base_uri"]).format(port=server.port)
        there = resolve(given, environ, tmp_path)
        assert there.password.reveal() == PASSWORD
        with Client(there, pause=0.01) as client, pytest.raises(AdvisorError) as caught:
            client.get("/api/overview")
        assert_silent(caught.value)
        assert caught.value.__context__ is None
        shown = f"{there!r} {client!r} {capfd.readouterr()} {caplog.text}"
    # without its last letters in whatever encoding
    for secret in (PASSWORD[:10], ENCODED):
        assert secret not in shown + str(caught.value)
