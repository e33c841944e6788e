-- name: beat_replica :exec
-- This replica lives, and so does its machine. A gap as long as a lease starts its time of beating anew.
-- @optional host_id, provisioners
WITH host AS (
    INSERT INTO hosts AS seen (id, seen_at) SELECT @host_id::text, now() WHERE @host_id::text IS NOT NULL
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at WHERE seen.seen_at < excluded.seen_at - lease_time()
)
INSERT INTO replicas AS known (id, url, host, pid, version, host_id, provisioners, beating_since, heartbeat_at)
VALUES (@id, @url, @host, @pid, @version, @host_id, @provisioners::text[], now(), now())
ON CONFLICT (id) DO UPDATE SET
    url = excluded.url,
    host_id = excluded.host_id,
    provisioners = excluded.provisioners,
    heartbeat_at = excluded.heartbeat_at,
    beating_since = CASE
        WHEN known.heartbeat_at < excluded.heartbeat_at - lease_time() THEN excluded.beating_since
        WHEN known.beating_since > excluded.beating_since THEN excluded.beating_since -- the clock was set back
        ELSE known.beating_since
    END;

-- name: get_replica :opt
SELECT * FROM replicas WHERE id = @id;

-- name: list_live_replicas :many
SELECT * FROM replicas WHERE heartbeat_at >= now() - lease_time() ORDER BY id;

-- name: expire_replica :exec
-- Someone saw it die: its chats may be taken at once.
UPDATE replicas SET heartbeat_at = least(now(), beating_since) - 2 * lease_time() WHERE id = @id;

-- name: delete_replica :exec
DELETE FROM replicas WHERE id = @id;

-- name: delete_dead_replicas :exec
-- Those that have been silent for long and own nothing any more.
DELETE FROM replicas r
WHERE r.heartbeat_at < now() - @silent_for::interval
  AND NOT EXISTS (SELECT FROM chat_state s WHERE s.replica_id = r.id);

-- name: delete_old_hosts :exec
-- Machines without a server for so long: that they are away is known without them.
DELETE FROM hosts WHERE seen_at < now() - @unseen_for::interval;

-- name: list_owned_chats :many
-- What the database says this replica runs, and whether it may still run it: whose owner is suspended or deleted is not.
-- @notnull chat_id, status, archived, snapshot_version, history_version, generation_attempt, is_owner_active
SELECT
    s.chat_id, s.runner_id, s.status, s.archived, s.snapshot_version, s.history_version, s.generation_attempt,
    u.status = 'active' AND NOT u.deleted AS is_owner_active
FROM chat_state s JOIN users u ON u.id = s.owner_id
WHERE s.replica_id = @replica_id::uuid;

-- name: list_chat_versions :many
-- One query for all chats that a replica watches or owns: what a lost hint would have told.
SELECT chat_id, snapshot_version, history_version, queue_version, retry_version, generation_attempt, status, archived,
    replica_id, runner_id
FROM chat_state WHERE chat_id = ANY (@chat_ids::uuid[]);

-- name: count_queued_chats :one
-- How many chats should generate and have no replica: none has room for them.
-- @notnull roots, children
SELECT count(*) FILTER (WHERE NOT is_child) AS roots, count(*) FILTER (WHERE is_child) AS children
FROM chat_state
WHERE replica_id IS NULL AND NOT archived AND status = 'running';
