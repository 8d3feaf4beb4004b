"""AMQP URIs: the parts as the broker's specification has them, and no password anywhere."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import UsageError
from prefetch_advisor.sources.amqp_uri import DEFAULT, AmqpUri, from_environment, parse

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("text", "place", "vhost", "username", "password", "tls"),
    [
        (DEFAULT, "localhost:5672", "/", "guest", "guest", False),
        ("amqp://", "localhost:5672", "/", "guest", "guest", False),
        ("amqp:///tasks", "localhost:5672", "tasks", "guest", "guest", False),
        ("amqps://u:p@h", "h:5671", "/", "u", "p", True),
        ("AMQP://u:p@H:1", "h:1", "/", "u", "p", False),
        ("amqp://u:p@h:10000/v%2fhost", "h:10000", "v/host", "u", "p", False),
        ("amqp://u:p@h/%2F", "h:5672", "/", "u", "p", False),
        # there but empty is a name of its own; Celery's way to write the default is told from it
        ("amqp://u:p@h/", "h:5672", "", "u", "p", False),
        ("amqp://u:p@h//", "h:5672", "/", "u", "p", False),
        ("amqp://user%61:%61pass@ho%61st/v%C3%A4", "hoast:5672", "vä", "usera", "apass", False),
        ("amqp://u:p:q@[::1]/v", "[::1]:5672", "v", "u", "p:q", False),
        ("amqp://u:@h", "h:5672", "/", "u", "", False),
    ],
)
def test_the_parts_are_those_of_the_specification(text, place, vhost, username, password, tls):
    uri = parse(text)
    assert (uri.place, uri.vhost, uri.username, uri.password, uri.tls) == (
        place,
        vhost,
        username,
        password,
        tls,
    )


def test_tls_settings_come_from_the_query_and_the_rest_of_it_is_named():
    uri = parse(
        "amqps://h?cacertfile=/ca.pem&certfile=/c.pem&keyfile=/k.pem&verify=verify_none"
        "&server_name_indication=broker&auth_mechanism=external&heartbeat=30&channel_max=5"
    )
    assert (uri.ca_file, uri.cert_file, uri.key_file) == ("/ca.pem", "/c.pem", "/k.pem")
    assert (uri.verify, uri.server_name, uri.external) == (False, "broker", True)
    assert uri.unused == ("channel_max", "heartbeat")


@pytest.mark.parametrize(
    "text",
    [
        f"http://u:{SECRET}@h:15672",
        f"u:{SECRET}@h",
        f"amqp:u:{SECRET}@h",
        f"redis://u:{SECRET}@h",
        # not encoded, so that a piece of the password stands where another part belongs
        f"amqp://u:{SECRET}/x@h:5672",
        f"amqp://u:12/{SECRET}@h:5672",
        f"amqp://u:{SECRET}?x@h",
        f"amqp://u:12#{SECRET}@h",
        f"amqp://u:{SECRET}#",
        f"amqp://u:p@{SECRET}/x@h",
        f"amqp://u:[{SECRET}@h",
        f"amqp://u:{SECRET}＠h",
        f"amqp://u:{SECRET} x@h",
        f"amqp://u:{SECRET}@h:99999",
        f"amqp://u:{SECRET}@h:0",
        f"amqp://u:{SECRET}@h:{SECRET}",
        f"amqp://u:{SECRET}%ff@h",
        f"amqp://u:{SECRET}%zz@h",
        f"amqp://u:{SECRET}%@h",
        f"amqp://u:{SECRET}\udcff@h",
        f"amqp://u:{SECRET}@a..b",
        f"amqp://u:{SECRET}@{'x' * 64}.example",
        f"amqps://u:{SECRET}@h?server_name_indication=.a",
        f"amqp://u:{SECRET}@h/a/b",
        f"amqp://u:{SECRET}@h/{'v' * 256}",
        f"amqp://u:{SECRET}@h?verify={SECRET}",
        f"amqp://{SECRET}@h",
    ],
)
def test_what_is_no_uri_is_refused_without_repeating_it(text):
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert SECRET not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


NAMES = st.text(min_size=1, max_size=12).filter(lambda s: s.isprintable())


@given(username=NAMES, password=NAMES, vhost=NAMES, tls=st.booleans())
@settings(deadline=None)
def test_whatever_is_percent_encoded_comes_back(username, password, vhost, tls):
    try:
        parts = [quote(text, safe="") for text in (username, password, vhost)]
    except UnicodeEncodeError:
        assume(False)
    scheme = "amqps" if tls else "amqp"
    uri = parse(f"{scheme}://{parts[0]}:{parts[1]}@broker:7777/{parts[2]}")
    assert uri == AmqpUri("broker", 7777, vhost, username, password, tls)


@given(
    text=st.text(max_size=40), head=st.sampled_from(["amqp://", "amqps://u:p@", "amqp://h/", ""])
)
@settings(deadline=None)
def test_nothing_but_a_usage_error_comes_of_any_text(text, head):
    try:
        uri = parse(head + text)
    except UsageError:
        return
    assert 1 <= uri.port <= 65_535
    assert uri.host


def test_the_password_is_in_no_repr_and_not_in_what_is_shown():
    uri = parse(f"amqps://us%40er:{SECRET}@h/a%2Fb")
    assert SECRET not in repr(uri)
    assert uri.shown == "amqps://us%40er@h:5671/a%2Fb"


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, None),
        ({"RABBITMQ_URL": " "}, None),
        ({"BROKER_URL": "redis://localhost", "RABBITMQ_URL": "amqp://a"}, "RABBITMQ_URL"),
        ({"RABBITMQ_URL": "amqp://a", "CLOUDAMQP_URL": "amqp://a"}, "CLOUDAMQP_URL"),
        ({"AMQP": "amqp://a"}, None),
    ],
)
def test_the_environment_is_used_where_it_names_one_broker(environment, name):
    found = from_environment(environment)
    assert (None if found is None else found[0]) == name


def test_an_ambiguous_environment_is_refused_by_the_names_of_its_variables():
    environment = {"CLOUDAMQP_URL": f"amqp://u:{SECRET}@a", "BROKER_URL": "amqp://b"}
    with pytest.raises(UsageError, match=r"CLOUDAMQP_URL and BROKER_URL.*--uri") as raised:
        from_environment(environment)
    assert SECRET not in str(raised.value)
