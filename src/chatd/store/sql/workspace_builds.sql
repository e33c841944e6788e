-- Builds: what is done to workspaces, one after the other.

-- name: insert_workspace_build :opt
-- The next build, if the latest one is still the one that was decided upon. It was over then, so nothing is built now.
-- `kept_parameters` are the workspace's from now on.
-- @optional initiator_id, key
WITH moved AS (
    UPDATE workspaces w SET build_number = w.build_number + 1, parameters = @kept_parameters, updated_at = now()
    WHERE w.id = @workspace_id AND w.build_number = @after_number AND NOT w.deleted
      -- @authorize_filter owner=w.owner_id
    RETURNING w.id, w.build_number
)
INSERT INTO workspace_builds (id, workspace_id, number, transition, reason, initiator_id, key, parameters)
SELECT @id, moved.id, moved.build_number, @transition, @reason, @initiator_id, @key, @parameters FROM moved
RETURNING *;

-- name: get_workspace_build :opt
SELECT b.* FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
WHERE b.id = @id
  -- @authorize_filter owner=w.owner_id
;

-- name: get_workspace_build_by_key :opt
SELECT b.* FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
WHERE b.key = @key
  -- @authorize_filter owner=w.owner_id
;

-- name: list_workspace_builds :many
-- The newest first, before a cursor.
-- @optional before_number
SELECT b.* FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
WHERE b.workspace_id = @workspace_id AND (@before_number::integer IS NULL OR b.number < @before_number)
  -- @authorize_filter owner=w.owner_id
ORDER BY b.number DESC LIMIT @max_rows::int;

-- name: claim_workspace_builds :many
-- Builds for this replica to carry out: those that nobody has begun, those of replicas that are gone, if it has itself
-- been beating for a lease, and those that it has begun and forgotten. Only such as this machine and its provisioners can.
UPDATE workspace_builds b SET
    status = 'running', replica_id = @replica_id::uuid, claims = b.claims + 1, started_at = coalesce(b.started_at, now())
WHERE b.id = ANY (ARRAY(
    SELECT a.id FROM workspace_builds a
    JOIN workspaces w ON w.id = a.workspace_id
    JOIN templates t ON t.id = w.template_id
    WHERE a.status IN ('pending', 'running')
      AND (w.host_id IS NULL OR w.host_id = @host_id::text)
      AND t.provisioner = ANY (@provisioners::provisioner_kind[])
      AND (
          a.status = 'pending'
          OR (a.replica_id = @replica_id::uuid AND a.id <> ALL (@known_ids::uuid[]))
          OR (
              a.replica_id <> @replica_id::uuid
              AND NOT EXISTS (
                  SELECT FROM replicas r WHERE r.id = a.replica_id AND r.heartbeat_at >= now() - lease_time()
              )
              AND EXISTS (
                  SELECT FROM replicas r WHERE r.id = @replica_id::uuid AND r.beating_since <= now() - lease_time()
              )
          )
      )
    ORDER BY a.created_at LIMIT @max_rows::int
    FOR UPDATE OF a SKIP LOCKED
))
RETURNING b.*;

-- name: finish_workspace_build :opt
-- The end of a build by who carries it out, and what the workspace is after it. A start that succeeded gives it an agent
-- and a deadline (ttl, lifetime: NULL = none); a recovery leaves its life as long as it was. A stop that failed leaves
-- both.
-- @optional agent_address, ttl, lifetime
WITH ended AS (
    UPDATE workspace_builds b SET status = @status, error = @error, error_code = @error_code, finished_at = now()
    WHERE b.id = @id AND b.status = 'running' AND b.replica_id = @replica_id::uuid
    RETURNING
        b.workspace_id, b.number, b.transition, b.reason, b.status,
        b.transition = 'start' AND b.status = 'succeeded' AS starts,
        b.transition = 'start' OR b.status = 'succeeded' AS counts
),
lived AS (
    SELECT e.*, CASE WHEN e.reason = 'recovery' THEN w.max_deadline ELSE now() + @lifetime::interval END AS until
    FROM ended e JOIN workspaces w ON w.id = e.workspace_id
)
UPDATE workspaces w SET
    agent_address = CASE WHEN e.starts THEN @agent_address::text WHEN e.counts THEN NULL ELSE w.agent_address END,
    max_deadline = CASE WHEN e.starts THEN e.until WHEN e.counts THEN NULL ELSE w.max_deadline END,
    deadline = CASE
        WHEN e.starts AND e.reason = 'recovery' THEN w.deadline
        WHEN e.starts THEN least(now() + @ttl::interval, e.until) WHEN e.counts THEN NULL ELSE w.deadline
    END,
    last_used_at = CASE WHEN e.starts THEN now() ELSE w.last_used_at END,
    deleted = w.deleted OR (e.transition = 'delete' AND e.status = 'succeeded'),
    updated_at = now()
FROM lived e WHERE w.id = e.workspace_id
RETURNING w.id, w.owner_id, w.deadline, e.number;

-- name: cancel_workspace_build :opt
-- One that nobody has begun is over at once; who carries one out is told to stop.
-- @optional cancelled_by
UPDATE workspace_builds b SET
    status = CASE WHEN b.status = 'pending' THEN 'cancelled' ELSE b.status END,
    finished_at = CASE WHEN b.status = 'pending' THEN now() END,
    cancelled_by = coalesce(@cancelled_by::uuid, '00000000-0000-0000-0000-000000000000')
FROM workspaces w
WHERE b.id = @id AND w.id = b.workspace_id AND b.status IN ('pending', 'running')
  -- @authorize_filter owner=w.owner_id
RETURNING b.*;

-- name: list_carried_out_builds :many
-- What this replica carries out, and whether it should stop.
-- @notnull is_cancelled
SELECT id, workspace_id, cancelled_by IS NOT NULL AS is_cancelled FROM workspace_builds
WHERE status IN ('pending', 'running') AND replica_id = @replica_id::uuid;

-- name: fail_unclaimed_builds :many
-- Builds that no replica has begun in all this time, and that none that lives can. What one can build waits for it to
-- have room.
UPDATE workspace_builds b SET status = 'failed', error = @error, error_code = 'not_claimed', finished_at = now()
FROM workspaces w JOIN templates t ON t.id = w.template_id
WHERE w.id = b.workspace_id AND b.status = 'pending' AND b.created_at < now() - @older_than::interval
  AND NOT has_builder(w.host_id, t.provisioner)
RETURNING b.*;

-- name: orphan_workspace :opt
-- Delete a workspace that no live replica can delete, with a build that is over already: nothing is done where it is, and
-- its files stay. `error_code` says so until a replica that can is back and has deleted them. No row while there is one.
-- @optional initiator_id
WITH gone AS (
    UPDATE workspaces w SET
        build_number = w.build_number + 1, deleted = true, agent_address = NULL, deadline = NULL, max_deadline = NULL,
        updated_at = now()
    FROM templates t
    WHERE w.id = @workspace_id AND NOT w.deleted AND t.id = w.template_id AND NOT has_builder(w.host_id, t.provisioner)
      -- @authorize_filter owner=w.owner_id
    RETURNING w.id, w.build_number, w.parameters
),
given_up AS (
    UPDATE workspace_builds b SET
        status = 'cancelled', finished_at = now(),
        cancelled_by = coalesce(@initiator_id::uuid, '00000000-0000-0000-0000-000000000000')
    FROM gone WHERE b.workspace_id = gone.id AND b.status IN ('pending', 'running')
)
INSERT INTO workspace_builds (
    id, workspace_id, number, transition, status, reason, initiator_id, parameters, error_code, started_at, finished_at
)
SELECT
    @id, gone.id, gone.build_number, 'delete', 'succeeded', 'initiator', @initiator_id, gone.parameters, 'orphan', now(),
    now()
FROM gone
RETURNING *;

-- name: list_orphans :many
-- The workspaces that were deleted while nobody could, and whose files a replica of this machine may still find.
SELECT b.workspace_id FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
WHERE b.error_code = 'orphan' AND (w.host_id IS NULL OR w.host_id = @host_id::text) AND b.workspace_id > @after_id
ORDER BY b.workspace_id LIMIT @max_rows::int;

-- name: settle_orphan :exec
-- Its files are deleted too.
UPDATE workspace_builds SET error_code = '' WHERE workspace_id = @workspace_id AND error_code = 'orphan';

-- name: insert_build_logs :batch
-- What a build said, by who carries it out, up to a number of lines.
INSERT INTO workspace_build_logs (build_id, created_at, level, stage, line)
SELECT b.id, said.at, said.level, said.stage, said.line
FROM workspace_builds b, unnest(@ats::timestamptz[], @levels::text[], @stages::text[], @lines::text[])
    WITH ORDINALITY AS said (at, level, stage, line, place)
WHERE b.id = @build_id AND b.status = 'running' AND b.replica_id = @replica_id::uuid
  AND (SELECT count(*) FROM workspace_build_logs l WHERE l.build_id = b.id) < @most_lines::int
ORDER BY said.place;

-- name: list_build_logs :many
SELECT l.* FROM workspace_build_logs l
JOIN workspace_builds b ON b.id = l.build_id
JOIN workspaces w ON w.id = b.workspace_id
WHERE l.build_id = @build_id AND l.id > @after_id
  -- @authorize_filter owner=w.owner_id
ORDER BY l.id LIMIT @max_rows::int;

-- name: delete_old_build_logs :exec
-- What builds said long ago, some at a time.
DELETE FROM workspace_build_logs WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM workspace_build_logs l
    WHERE l.created_at < now() - @older_than::interval
    ORDER BY l.created_at LIMIT @max_rows::int
    FOR UPDATE SKIP LOCKED
));
