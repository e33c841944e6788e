"""Metrics of workspaces: how builds ended, how many workspaces run. docs/operate/metrics.md explains each."""

from prometheus_client import CollectorRegistry, Gauge

from chatd.observe.tallies import TallyBoard


class WorkspaceMetrics:
    def __init__(self, registry: CollectorRegistry, board: TallyBoard) -> None:
        self._builds = board.count(
            "chatd_workspace_builds_total", "Builds that this process carried out.", "transition", "reason", "outcome"
        )
        self._running = Gauge("chatd_workspaces", "Workspaces that run, of the whole deployment.", registry=registry)

    def built(self, transition: str, reason: str, outcome: str) -> None:
        self._builds.of(transition, reason, outcome).value += 1

    def running(self, count: int) -> None:
        self._running.set(count)
