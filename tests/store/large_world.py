"""Many chats as a busy deployment has them, loaded in a few statements: for tests of plans, not of behaviour."""

from typing import Any
from uuid import UUID

import asyncpg
import msgspec

USERS = 100
REPLICAS = 5  # the last one is silent

# Numbered rows get their ids from their numbers, so that they can be named without being looked up.
_LOAD = """
SELECT set_config('chatd.transition', 'load', true);

CREATE FUNCTION pg_temp.numbered(letter text, number bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (letter || lpad(to_hex(number), 31, '0'))::uuid
$$;

INSERT INTO users (id, email, username, display_name, password_hash, role)
SELECT pg_temp.numbered('a', n), 'u' || n || '@example.com', 'user' || n, '', 'x', 'member'
FROM generate_series(1, {users}) AS n;

INSERT INTO usage_limits (period, microdollars) VALUES ('day', 1), ('month', 2);

INSERT INTO replicas (id, url, host, pid, version, beating_since, heartbeat_at)
SELECT pg_temp.numbered('b', n), '', 'h', n, '1', now() - interval '1 hour',
    now() - CASE WHEN n = {replicas} THEN interval '1 hour' ELSE interval '0' END
FROM generate_series(1, {replicas}) AS n;

-- As many workspaces as chats, every other of which works in one. Most run; one in fifty is overdue; one in a hundred
-- is being built.
INSERT INTO templates (id, organization_id, name, provisioner)
SELECT pg_temp.numbered('9', n), o.id, 't' || n, 'local'
FROM organizations o, generate_series(1, 20) AS n WHERE o.is_default;
INSERT INTO hosts (id, seen_at) SELECT 'h' || n, now() FROM generate_series(1, 5) AS n;
INSERT INTO workspaces (
    id, organization_id, owner_id, template_id, name, host_id, agent_token, agent_address, deadline, build_number
)
SELECT pg_temp.numbered('7', n), o.id, pg_temp.numbered('a', (n - (n % 6 = 0)::int) % {users} + 1),
    pg_temp.numbered('9', n % 20 + 1), 'w' || n, 'h' || n % 5 + 1, 'enc1:0000000000000000:AAAA',
    CASE WHEN n % 10 <> 0 THEN 'unix:a' END,
    CASE WHEN n % 50 = 7 THEN now() - interval '1 minute' WHEN n % 10 <> 0 THEN now() + interval '1 hour' END, 2
FROM organizations o, generate_series(1, {chats}) AS n WHERE o.is_default;
INSERT INTO workspace_builds (id, workspace_id, number, transition, status, reason, key, created_at, replica_id)
SELECT pg_temp.numbered('8', n * 10 + at), pg_temp.numbered('7', n), at, 'start',
    CASE WHEN at = 2 AND n % 100 = 0 THEN 'pending' WHEN at = 2 AND n % 100 = 2 THEN 'running' ELSE 'succeeded'
        END::build_status,
    'initiator', pg_temp.numbered('8', n * 10 + at), now(),
    CASE WHEN n % 100 = 2 THEN pg_temp.numbered('b', 1 + n % {replicas}) END
FROM generate_series(1, {chats}) AS n, generate_series(1, 2) AS at;
INSERT INTO workspace_build_logs (build_id, created_at, level, stage, line)
SELECT b.id, now() - interval '1 minute' * at, 'info', 'start', 'line'
FROM workspace_builds b, generate_series(1, 3) AS at;

-- Every sixth chat is a child of the one before it.
INSERT INTO chats (
    id, organization_id, owner_id, parent_chat_id, root_chat_id, title, labels, pin_order, created_at, workspace_id
)
SELECT pg_temp.numbered('c', n), o.id, pg_temp.numbered('a', (n - (n % 6 = 0)::int) % {users} + 1),
    parent.id, parent.id, 'Chat ' || n, jsonb_build_object('ticket', n::text, 'team', (n % 7)::text),
    CASE WHEN n % 40 = 1 THEN n ELSE 0 END, now() - (interval '1 minute' * ({chats} - n)),
    CASE WHEN n % 2 = 1 THEN pg_temp.numbered('7', n) END
FROM organizations o, generate_series(1, {chats}) AS n,
    LATERAL (SELECT CASE WHEN n % 6 = 0 THEN pg_temp.numbered('c', n - 1) END AS id) AS parent
WHERE o.is_default ORDER BY n;

-- Of a hundred: 20 archived, 6 run on replicas, 2 wait for one, 1 stops, 1 waits for its client, 3 have failed. The
-- oldest of those that stop are the silent replica's.
INSERT INTO chat_state (
    chat_id, owner_id, is_child, status, archived, has_open_calls, has_draft, takeovers, queue_length, held_length,
    generation_attempt, snapshot_version, history_version, queue_version, retry_version, replica_id, runner_id,
    last_model_config_id, updated_at, requires_action_deadline_at
)
SELECT c.id, c.owner_id, c.root_chat_id IS NOT NULL,
    CASE WHEN k < 8 THEN 'running' WHEN k < 9 THEN 'interrupting' WHEN k < 10 THEN 'requires_action'
        WHEN k < 13 THEN 'error' ELSE 'waiting' END::chat_status,
    k >= 80, false, false, 0, CASE WHEN k < 10 THEN 2 ELSE 0 END, CASE WHEN k < 10 THEN 1 ELSE 0 END,
    1, 10, 10, 0, 0,
    CASE WHEN k < 6 THEN pg_temp.numbered('b', n % {replicas} + 1)
        WHEN k = 8 AND n < 500 THEN pg_temp.numbered('b', {replicas}) END,
    CASE WHEN k < 6 OR (k = 8 AND n < 500) THEN gen_random_uuid() END,
    c.id, now() - (interval '1 minute' * ({chats} - n)), CASE WHEN k = 9 THEN now() END
FROM (SELECT c.*, row_number() OVER (ORDER BY c.created_at, c.id) AS n FROM chats c) AS c,
    LATERAL (SELECT (n * 37) % 100 AS k) AS share
ORDER BY n;

INSERT INTO chat_contexts (chat_id, hash, snapshot)
SELECT c.id, 'h', '[]' FROM chats c WHERE c.workspace_id IS NOT NULL;
INSERT INTO git_providers (id, kind, host, api_url, token)
VALUES (pg_temp.numbered('7', 1), 'github', 'h1', 'a', 'enc1:0000000000000000:AAAA');
INSERT INTO chat_diff_statuses (chat_id, git_branch, git_remote_origin, git_host, git_path, stale_at)
SELECT c.id, 'main', 'o', 'h' || (row_number() OVER () % 2), 'p',
    now() + interval '1 hour' - interval '1 minute' * (row_number() OVER () % 70)
FROM chats c WHERE c.workspace_id IS NOT NULL;

INSERT INTO chat_sends SELECT s.chat_id, s.chat_id, s.chat_id, 1, NULL, 1, now() FROM chat_state s;

-- In the order of time, which is not that of the chats; the first chat goes on for long.
INSERT INTO messages (
    chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content, model_config_id,
    output_tokens, cost_microdollars, runtime_ms
)
SELECT pg_temp.numbered('c', CASE WHEN at <= {each} THEN n ELSE 1 END),
    now() - interval '30 days'
        + interval '30 days' * (row_number() OVER (ORDER BY at, n)) / ({chats} * {each} + {long}),
    1,
    CASE WHEN at = 1 THEN 'system' WHEN at % 3 = 2 THEN 'user' WHEN at % 3 = 0 THEN 'assistant' ELSE 'tool'
        END::message_role,
    CASE WHEN at % 50 = 0 THEN 'model' ELSE 'both' END::message_visibility, at % 50 = 0, at % 20 = 7, 1,
    jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('some words ', 20))),
    gen_random_uuid(), 100, CASE WHEN at % 3 = 0 THEN 1000 END, CASE WHEN at % 3 = 0 THEN 900 END
FROM (
    SELECT n, at FROM generate_series(1, {each}) AS at, generate_series(1, {chats}) AS n
    UNION ALL SELECT 0, at FROM generate_series({each} + 1, {each} + {long}) AS at
) AS numbered
ORDER BY at, n;

INSERT INTO queued_messages (chat_id, position, content_version, content, created_by, held_by, held_until)
SELECT s.chat_id, at, 1, '[{{"type": "text", "text": "later"}}]', s.owner_id,
    CASE WHEN at = 3 THEN s.owner_id END,
    CASE WHEN at = 3 THEN now() + (s.updated_at < now() - interval '1 hour')::integer * interval '1 hour' END
FROM chat_state s, generate_series(1, 3) AS at WHERE s.queue_length > 0;

INSERT INTO files (id, organization_id, owner_id, name, media_type, size, sha256, data, created_at)
SELECT pg_temp.numbered('f', n), c.organization_id, c.owner_id, 'a.txt', 'text/plain', 1000,
    sha256('x'), convert_to(repeat('x', 1000), 'UTF8'), c.created_at
FROM generate_series(1, {chats}) AS n JOIN chats c ON c.id = pg_temp.numbered('c', n) ORDER BY n;

-- Thirty seconds of each chat that runs.
INSERT INTO chat_checkpoints (chat_id, history_version, attempt, runner_id, first_seq, last_seq, parts)
SELECT s.chat_id, s.history_version, 1, s.runner_id, at, at, '[]'
FROM chat_state s, generate_series(1, 30) AS at WHERE s.runner_id IS NOT NULL;

-- Ten labels of each chat.
INSERT INTO side_costs (chat_id, owner_id, created_at, kind, model_config_id, cost_microdollars)
SELECT c.id, c.owner_id, now() - interval '30 days' + interval '3 days' * at, 'label', c.id, 10
FROM generate_series(1, 10) AS at, chats c ORDER BY at, c.id;

-- A thousand browsers, ten of each user, on a session of their own.
INSERT INTO tokens (id, user_id, kind, name, hash, scopes, expires_at)
SELECT pg_temp.numbered('e', n), pg_temp.numbered('a', n % {users} + 1), 'session', 'session',
    sha256(n::text::bytea), '{{*:*}}', now() + interval '1 day'
FROM generate_series(1, 1000) AS n;
INSERT INTO push_subscriptions (id, user_id, token_id, endpoint_hash, endpoint, p256dh, auth)
SELECT pg_temp.numbered('d', n), pg_temp.numbered('a', n % {users} + 1), pg_temp.numbered('e', n),
    sha256(n::text::bytea), 'enc1:0000000000000000:AAAA', convert_to(repeat('x', 65), 'UTF8'),
    'enc1:0000000000000000:AAAA'
FROM generate_series(1, 1000) AS n;

-- All but the last chats are searchable, and what was said in the first one lately is not.
INSERT INTO indexed_chats (chat_id, history_version, through)
SELECT s.chat_id, CASE WHEN s.chat_id = pg_temp.numbered('c', 1) THEN 9 ELSE 10 END,
    (SELECT max(m.id) FROM messages m WHERE m.chat_id = s.chat_id AND NOT m.deleted) - 1
FROM chat_state s WHERE NOT s.is_child AND s.chat_id < pg_temp.numbered('c', {chats} - 50);
INSERT INTO message_words (chat_id, message_id, words)
SELECT m.chat_id, m.id, to_tsvector('simple', 'some words of chat ' || m.id || ' of ' || s.owner_id)
FROM indexed_chats i JOIN chat_state s ON s.chat_id = i.chat_id JOIN messages m ON m.chat_id = i.chat_id
WHERE m.role IN ('user', 'assistant') AND m.visibility <> 'model' AND NOT m.deleted;

-- One in fifty files was never sent.
INSERT INTO chat_files (chat_id, file_id)
SELECT pg_temp.numbered('c', n), pg_temp.numbered('f', n) FROM generate_series(1, {chats}) AS n WHERE n % 50 > 0;
"""


class LargeWorld(msgspec.Struct, frozen=True):
    """`chat` is the long one, `root` has a child, `file` belongs to the owner of `chat`."""

    organization_id: UUID
    owner_id: UUID
    chat: UUID
    root: UUID
    child: UUID
    file: UUID
    replica: UUID
    silent: UUID
    workspace: UUID


def numbered(letter: str, number: int) -> UUID:
    return UUID(letter + f"{number:031x}")


async def load(connection: "asyncpg.Connection[asyncpg.Record]", *, chats: int, each: int, long: int) -> LargeWorld:
    """`chats` chats of `each` messages, the first one with `long` more."""
    values: dict[str, Any] = {"users": USERS, "replicas": REPLICAS, "chats": chats, "each": each, "long": long}
    async with connection.transaction():
        await connection.execute(_LOAD.format(**values), timeout=600)
    # As autovacuum would: statistics, and block ranges summarised.
    await connection.execute("VACUUM ANALYZE", timeout=600)
    organization_id = await connection.fetchval("SELECT id FROM organizations WHERE is_default")
    return LargeWorld(
        organization_id,
        numbered("a", 2),
        numbered("c", 1),
        numbered("c", 5),
        numbered("c", 6),
        numbered("f", 1),
        numbered("b", 1),
        numbered("b", REPLICAS),
        numbered("7", 101),
    )
