"""What is counted, and under which labels."""

from asyncio import CancelledError

import pytest

from chatd.core.errors import NotAuthorized, NotFound
from chatd.observe.metrics import Metrics, in_route, known_method


class Asked:
    template = "/api/users/{user}"
    method = "GET"


def sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_a_query_is_timed_and_counted_for_its_route():
    times = iter([10.0, 10.25])
    metrics = Metrics(monotonic=lambda: next(times))
    with in_route(Asked()), metrics.query("get_user"):
        pass

    assert sample(metrics, "chatd_db_query_seconds_sum", query="get_user") == 0.25
    assert sample(metrics, "chatd_db_queries_total", route="/api/users/{user}", method="GET", query="get_user") == 1


def test_a_query_outside_of_requests_has_no_route():
    metrics = Metrics()
    for _ in range(2):
        with metrics.query("poll"):
            pass

    assert sample(metrics, "chatd_db_queries_total", route="-", method="-", query="poll") == 2


def test_a_query_that_fails_is_counted_as_both():
    metrics = Metrics()
    with pytest.raises(ValueError, match="x"), metrics.query("q"):
        raise ValueError("x")

    assert sample(metrics, "chatd_db_query_errors_total", query="q") == 1
    assert sample(metrics, "chatd_db_queries_total", route="-", method="-", query="q") == 1


@pytest.mark.parametrize("error", [NotFound("User"), NotAuthorized(action="read", resource="user"), CancelledError()])
def test_finding_nothing_and_being_cancelled_are_no_failures(error: BaseException):
    metrics = Metrics()
    with pytest.raises(type(error)), metrics.query("q"):
        raise error

    assert sample(metrics, "chatd_db_query_errors_total", query="q") is None
    assert sample(metrics, "chatd_db_queries_total", route="-", method="-", query="q") == 1


def test_requests_are_counted_by_status_class_and_in_progress():
    metrics = Metrics()
    metrics.request_started()
    metrics.request_started()
    metrics.request_done(Asked(), status=404, seconds=0.1)

    assert sample(metrics, "chatd_http_requests_in_progress") == 1
    assert sample(metrics, "chatd_http_requests_total", route="/api/users/{user}", method="GET", status="4xx") == 1


def test_a_client_can_not_make_up_labels():
    assert known_method("POST") == "POST"
    assert known_method("X" * 1000) == "OTHER"


def test_two_objects_share_nothing_and_both_render():
    one, other = Metrics(version="1.2", replica="0"), Metrics()
    with one.query("only_here"):
        pass

    assert b"only_here" in one.render()[0]
    assert b"only_here" not in other.render()[0]
    assert b'version="1.2"' in one.render()[0]
    assert one.render()[1].startswith("text/plain")
