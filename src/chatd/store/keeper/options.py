"""What a keeper is started with: one JSON argument, written by the server and read by the keeper.

Only the standard library is imported in the `keeper*` modules: the keeper must start in milliseconds.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class KeeperLimits:
    """How long the keeper waits for what, in seconds. Tests shorten them; nobody else should need to."""

    check_every: float = 5.0  # notices a hung Postgres within a minute, costs one connection each time
    answer_within: float = 10.0  # far above what a busy machine needs to fork one backend
    missed_checks: int = 3  # one miss may be the machine, three in a row are Postgres
    start_within: float = 60.0  # without any answer at all; during recovery Postgres answers "not yet"
    stop_within: float = 60.0  # a fast shutdown writes a checkpoint, which a slow disk makes long
    quit_within: float = 10.0  # an immediate shutdown writes nothing
    first_server_within: float = 10.0  # the server that started the keeper connects at once or has died
    first_delay: float = 0.1  # before the first restart; doubles with each failure
    longest_delay: float = 10.0  # a restart attempt every ten seconds disturbs nobody
    steady_after: float = 10.0  # ready for this long: the next failure counts as the first
    failures: int = 5  # in a row, then a person must look
    told_within: float = 30.0  # how long a keeper that failed waits for servers to hear the reason


@dataclass(frozen=True)
class KeeperOptions:
    """`settings` are Postgres settings on top of the keeper's own; they win."""

    data_dir: str
    binaries: str
    postgres_version: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: KeeperLimits = field(default_factory=KeeperLimits)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "KeeperOptions":
        fields = json.loads(text)
        limits = KeeperLimits(**fields.pop("limits"))
        return cls(**fields, limits=limits)
