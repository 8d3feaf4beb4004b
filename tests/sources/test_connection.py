"""Where the API is and who asks: precedence, both forms of the file, and no word of a password."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import traceback
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import AdvisorError, InputError, UsageError
from prefetch_advisor.sources.connection import Connection, Secret, resolve

PASSWORD = "s3cr3t-Pa55"
INI = """\
# the old tool's form
[default]
hostname = rabbit.example
port = 15673
username = ops
password = {password}
vhost = /shop

[staging]
hostname = staging.example
ssl = True
ssl_ca_cert_file = ~/ca.pem
ssl_cert_file = /etc/client.pem
ssl_key_file = /etc/client.key
"""
TOML = """\
# the new tool's form
[default]
hostname = "rabbit.example"
port = 15673
username = "ops"
password = "{password}"
virtual_host = "/shop"

[staging]
hostname = "staging.example"
tls = true
ca_certificate_bundle_path = "~/ca.pem"
client_certificate_file_path = "/etc/client.pem"
client_private_key_file_path = "/etc/client.key"
path_prefix = "/rabbit/api"
"""


def found(home: Path, environ: Mapping[str, str] | None = None, **options: object) -> Connection:
    return resolve(options, environ or {}, home)


def write(home: Path, text: str) -> Path:
    file = home / ".rabbitmqadmin.conf"
    file.write_text(text.replace("{password}", PASSWORD))
    return file


def test_without_anything_it_is_guest_on_this_machine(tmp_path):
    connection = found(tmp_path)
    assert connection.base_url == "http://localhost:15672"
    assert (connection.username, connection.password.reveal()) == ("guest", "guest")
    assert (connection.vhost, connection.path_prefix, connection.insecure) == (None, "", False)
    assert set(connection.origins.values()) == {"default"}


@pytest.mark.parametrize("text", [INI, TOML], ids=["ini", "toml"])
def test_both_forms_of_the_file_say_the_same(tmp_path, text):
    file = write(tmp_path, text)
    default = found(tmp_path)
    assert default.base_url == "http://rabbit.example:15673"
    assert (default.username, default.password.reveal()) == ("ops", PASSWORD)
    assert default.vhost == "/shop"
    assert default.origins["password"] == f"{file}:6: password"
    staging = found(tmp_path, node="staging")
    assert staging.base_url == "https://staging.example:15671"
    assert staging.tls_ca_cert_file == str(tmp_path / "ca.pem")
    assert (staging.tls_cert_file, staging.tls_key_file) == ("/etc/client.pem", "/etc/client.key")
    assert staging.username == "guest"


def test_precedence_is_option_environment_file_default(tmp_path):
    write(tmp_path, TOML)
    environ = {"RABBITMQADMIN_TARGET_HOST": "env.example", "RABBITMQADMIN_USERNAME": "env"}
    connection = found(tmp_path, environ, username="option")
    assert connection.base_url == "http://env.example:15673"
    assert connection.username == "option"
    assert connection.password.reveal() == PASSWORD
    assert connection.timeout == 60
    assert connection.origins["host"] == "RABBITMQADMIN_TARGET_HOST"
    assert connection.origins["username"] == "--username"


def test_every_variable_is_read(tmp_path):
    connection = found(
        tmp_path,
        {
            "RABBITMQADMIN_TARGET_HOST": "h",
            "RABBITMQADMIN_TARGET_PORT": "1234",
            "RABBITMQADMIN_TARGET_VHOST": "v",
            "RABBITMQADMIN_USERNAME": "u",
            "RABBITMQADMIN_PASSWORD": PASSWORD,
            "RABBITMQADMIN_API_PATH_PREFIX": "/api",
            "RABBITMQADMIN_USE_TLS": "true",
            "RABBITMQADMIN_TIMEOUT": "7",
        },
    )
    assert connection.base_url == "https://h:1234"
    assert (connection.vhost, connection.username) == ("v", "u")
    assert connection.password.reveal() == PASSWORD
    assert (connection.path_prefix, connection.timeout) == ("", 7)


def test_file_and_section_are_named_by_the_environment_too(tmp_path):
    file = tmp_path / "elsewhere.conf"
    file.write_text(INI)
    environ = {
        "RABBITMQADMIN_CONFIG_FILE_PATH": "~/elsewhere.conf",
        "RABBITMQADMIN_NODE_ALIAS": "staging",
    }
    assert found(tmp_path, environ).host == "staging.example"
    assert found(tmp_path, environ, node="default").host == "rabbit.example"


@pytest.mark.parametrize(
    ("uri", "url", "prefix"),
    [
        ("http://h:15672", "http://h:15672", ""),
        ("https://h", "https://h:15671", ""),
        ("https://h:443/", "https://h:443", ""),
        ("http://h:80/rabbit/api/", "http://h:80", "/rabbit"),
        ("http://[::1]:15672/api", "http://[::1]:15672", ""),
    ],
)
def test_a_base_uri_is_taken_apart(tmp_path, uri, url, prefix):
    connection = found(tmp_path, base_uri=uri)
    assert (connection.base_url, connection.path_prefix) == (url, prefix)


def test_a_base_uri_gives_user_and_password_and_keeps_neither(tmp_path):
    connection = found(tmp_path, base_uri="http://ops:p%40ss%2Fw@h:15672/rabbit")
    assert (connection.username, connection.password.reveal()) == ("ops", "p@ss/w")
    assert connection.base_url == "http://h:15672"
    assert connection.path_prefix == "/rabbit"


@pytest.mark.parametrize("uri", ["http://ops:100%sure@h:1", "http://h:1/50%", "http://o:a%4@h"])
def test_a_percent_sign_of_its_own_in_a_base_uri_is_refused_without_repeating_it(tmp_path, uri):
    with pytest.raises(UsageError, match="percent-encoded") as refused:
        found(tmp_path, base_uri=uri)
    assert "sure" not in str(refused.value)


def test_a_base_uri_without_port_takes_none_of_another_host(tmp_path):
    write(tmp_path, TOML)
    connection = found(tmp_path, base_uri="https://other.example")
    assert connection.base_url == "https://other.example:15671"
    assert "names no port" in connection.origins["port"]


def test_options_beside_a_base_uri_must_not_say_otherwise(tmp_path):
    assert found(tmp_path, base_uri="http://h:1", host="h", port=1).base_url == "http://h:1"
    with pytest.raises(UsageError, match=r"--host and --base-uri say different things"):
        found(tmp_path, base_uri="http://h:1", host="other")


def test_the_newer_environment_uri_wins_over_its_host(tmp_path):
    environ = {"RABBITMQADMIN_BASE_URI": "https://u:p@h:1", "RABBITMQADMIN_TARGET_HOST": "x"}
    assert found(tmp_path, environ).base_url == "https://h:1"
    assert found(tmp_path, environ, host="y").base_url == "https://y:1"


@pytest.mark.parametrize(
    "written", ["p%%w%%", "p%w%"], ids=["doubled for the old tool", "as it is"]
)
def test_percent_signs_in_ini_passwords(tmp_path, written):
    write(tmp_path, f"[default]\nhostname = h\npassword = {written}\n")
    assert found(tmp_path).password.reveal() == "p%w%"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("port", "http", r"--port: expected a port between 1 and 65535, found 'http'"),
        ("port", 0, r"--port: expected a port"),
        ("timeout", "soon", r"--timeout: expected a number of seconds above 0"),
        ("timeout", float("nan"), r"--timeout: expected a number of seconds"),
        ("host", f"http://u:{PASSWORD}@h", r"--host: expected a host name .*--base-uri"),
        ("username", "a:b", r"--username: expected a user name without ':'"),
        ("base_uri", f"amqp://u:{PASSWORD}@h", r"--base-uri: expected the management API's"),
        ("base_uri", f"http://u:{PASSWORD}/x@h:1", r"--base-uri: expected .*percent-encoded"),
        ("base_uri", f"http://u:{PASSWORD}#x@h:1", r"--base-uri: expected .*percent-encoded"),
        ("base_uri", f"http://u:{PASSWORD}?x@h:1", r"--base-uri: expected .*percent-encoded"),
        ("base_uri", f"u:{PASSWORD}@h", r"--base-uri: expected"),
        ("path_prefix", f"/../{PASSWORD}", r"--path-prefix: expected a path such as"),
        ("tls_key_file", "k.pem", r"--tls-key-file: expected a client certificate beside"),
    ],
)
def test_what_cannot_be_meant_is_said_without_a_password(tmp_path, name, value, message):
    with pytest.raises(UsageError, match=message) as caught:
        found(tmp_path, **{name: value}, **({} if name == "base_uri" else {"password": PASSWORD}))
    assert_silent(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("password = {password}\n", r":1: expected a section such as \[default\]"),
        ("[default]\nhostname = h\n{password}\n", r":3: expected a setting in INI"),
        ("[default]\npassword = {password}\npassword = {password}\n", r":3: expected each setting"),
        ("[default]\nhostname = h\n[default]\npassword = {password}", r":3: expected each section"),
        ('[default]\nhostname = "h"\npassword = {password}\n', r":3: expected TOML"),
        ('[default]\npassword = "{password}\n', r":2: expected TOML"),
        ("[default]\nport = {password}\n", r":2: port: expected a port"),
        ('[default]\nport = "{password}"\n', r":2: port: expected a port"),
        ('[default]\ntls = "{password}"\n', r":2: tls: expected true or false"),
        ('[default]\npassword = ["{password}"]\n', r":2: password: expected a text"),
        ("[default]\nbase_uri = http://u:{password}/@h\n", r":2: base_uri: expected http"),
        ("[other]\npassword = {password}\n", r"expected a section \[default\], found 'other'"),
        ("\0{password}", r":1: expected text in UTF-8"),
    ],
)
def test_a_wrong_file_is_named_with_its_line_and_never_its_values(tmp_path, text, message):
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        found(tmp_path, config=str(file))
    assert str(caught.value).startswith(str(file))
    assert_silent(caught.value)


def test_a_file_of_another_encoding_is_named_with_its_line(tmp_path):
    file = tmp_path / ".rabbitmqadmin.conf"
    file.write_bytes(b"[default]\npassword = " + "pässwort".encode("latin-1"))
    with pytest.raises(InputError, match=r"\.conf:2: expected text in UTF-8") as caught:
        found(tmp_path)
    assert "sswort" not in everything(caught.value)


def test_a_file_that_was_asked_for_must_be_there(tmp_path):
    with pytest.raises(InputError, match="there is no such configuration file"):
        found(tmp_path, config=str(tmp_path / "none.conf"))
    with pytest.raises(InputError, match="there is no such configuration file"):
        found(tmp_path, node="staging")
    with pytest.raises(InputError, match="it is no file"):
        found(tmp_path, config=str(tmp_path))
    write(tmp_path, INI)
    with pytest.raises(
        InputError, match=r"expected a section \[live\], found 'default', 'staging'"
    ):
        found(tmp_path, node="live")


def test_a_file_for_other_nodes_only_leaves_the_defaults(tmp_path):
    write(tmp_path, "[other]\nhostname = h\n")
    assert found(tmp_path).host == "localhost"


WAYS = {
    "option": ({"password": PASSWORD}, {}, ""),
    "base URI": ({"base_uri": f"http://u:{PASSWORD}@h"}, {}, ""),
    "variable": ({}, {"RABBITMQADMIN_PASSWORD": PASSWORD}, ""),
    "variable with a URI": ({}, {"RABBITMQADMIN_BASE_URI": f"http://u:{PASSWORD}@h"}, ""),
    "INI": ({}, {}, INI),
    "TOML": ({}, {}, TOML),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_form_of_a_connection_shows_its_password(tmp_path, way):
    options, environ, text = WAYS[way]
    if text:
        write(tmp_path, text)
    connection = resolve(options, environ, tmp_path)
    assert connection.password.reveal() == PASSWORD
    shown = f"{connection!r} {connection!s} {connection.password!r}"
    shown += f" {connection.password!s:>20} {connection.origins} {connection.base_url}"
    assert PASSWORD not in shown
    assert "***" in repr(connection)


def test_a_secret_is_equal_by_value_and_never_written(tmp_path):
    assert Secret("a") == Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a")}) == 1
    for write_out in (pickle.dumps, copy.deepcopy, dataclasses.asdict):
        with pytest.raises(TypeError):
            write_out(found(tmp_path))  # type: ignore[operator]


@given(text=st.text(max_size=60))
@settings(deadline=None, max_examples=80)
def test_no_text_of_a_file_raises_anything_but_an_input_error(tmp_path_factory, text):
    home = tmp_path_factory.mktemp("home")
    (home / ".rabbitmqadmin.conf").write_text("[default]\n" + text, "utf-8", "surrogatepass")
    try:
        found(home)
    except InputError as error:
        assert "\n" not in str(error)


@given(uri=st.text(alphabet="htps:/@[]#?%.ab1\u00e9\\ ", max_size=25))
@settings(deadline=None, max_examples=150)
def test_no_base_uri_raises_anything_but_a_usage_error(uri):
    try:
        connection = found(Path("/nonexistent"), base_uri=f"http://{uri}")
    except AdvisorError as error:
        assert isinstance(error, UsageError)
    else:
        assert "@" not in connection.base_url


def everything(error: BaseException) -> str:
    """All that any printer of exceptions could show, contexts included."""
    parts = [*traceback.format_exception(error), repr(error), repr(error.args)]
    others = [error.__cause__, error.__context__]
    parts += [everything(other) for other in others if other is not None]
    return "\n".join(parts)


def assert_silent(error: BaseException) -> None:
    assert PASSWORD not in everything(error)
    assert len(str(error).splitlines()) == 1
