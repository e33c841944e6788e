"""Metrics of git hosts: how they answer. docs/operate/metrics.md explains each."""

from chatd.observe.tallies import TallyBoard


class GitHostMetrics:
    def __init__(self, board: TallyBoard) -> None:
        self._requests = board.count(
            "chatd_git_host_requests_total", "Requests to the APIs of git hosts.", "kind", "outcome"
        )

    def asked(self, kind: str, outcome: str) -> None:
        self._requests.of(kind, outcome).value += 1
