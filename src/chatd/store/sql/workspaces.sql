-- Workspaces: where tools run. What is done to them is in workspace_builds.sql.

-- name: insert_workspace :one
-- With its first build, which starts it. A key that was used before is a unique violation, and nothing is stored.
-- @optional host_id, ttl_ms, initiator_id, key
WITH made AS (
    INSERT INTO workspaces (
        id, organization_id, owner_id, template_id, name, host_id, parameters, agent_token, ttl_ms, build_number
    ) VALUES (
        @id, @organization_id, @owner_id, @template_id, @name, @host_id, @parameters, @agent_token, @ttl_ms, 1
    )
    RETURNING id
)
INSERT INTO workspace_builds (id, workspace_id, number, transition, reason, initiator_id, key, parameters)
SELECT @build_id, made.id, 1, 'start', @reason, @initiator_id, @key, @build_parameters FROM made
RETURNING *;

-- name: lock_workspaces_of :exec
-- Until the end of the transaction nobody else makes a workspace of this user: how many there are stays true.
SELECT pg_advisory_xact_lock(hashtextextended('chatd workspaces ' || @owner_id::uuid::text, 0));

-- name: count_workspaces :one
-- Of one user, as far as the actor may see them.
-- @notnull workspaces
SELECT count(*) AS workspaces FROM workspaces w
WHERE w.owner_id = @owner_id AND NOT w.deleted
  -- @authorize_filter owner=w.owner_id
;

-- name: get_workspace :opt
-- A workspace as people see it, with its latest build. A deleted one is there too.
-- @notnull owner_name, template_name, build_id, transition, build_status, build_error, build_error_code, build_created_at
SELECT
    w.id, w.organization_id, w.owner_id, w.template_id, w.name, w.host_id, w.parameters, w.ttl_ms, w.deadline,
    w.max_deadline, w.last_used_at, w.build_number, w.deleted, w.created_at, w.updated_at,
    w.agent_address IS NOT NULL AS has_agent, u.username AS owner_name, t.name AS template_name, b.id AS build_id,
    b.transition, b.status AS build_status, b.error AS build_error, b.error_code AS build_error_code,
    b.created_at AS build_created_at, b.finished_at AS build_finished_at
FROM workspaces w
JOIN users u ON u.id = w.owner_id
JOIN templates t ON t.id = w.template_id
JOIN workspace_builds b ON b.workspace_id = w.id AND b.number = w.build_number
WHERE w.id = @id
  -- @authorize_filter owner=w.owner_id
;

-- name: get_workspace_id :opt
-- By its name, of those that are there.
SELECT w.id FROM workspaces w
WHERE w.owner_id = @owner_id AND w.name = @name AND NOT w.deleted
  -- @authorize_filter owner=w.owner_id
;

-- name: list_workspaces :many
-- Those that are there, after a cursor; of one user, or of everyone whose the actor may see.
-- @optional owner_id, after_id
-- @notnull owner_name, template_name, build_id, transition, build_status, build_error, build_error_code, build_created_at
SELECT
    w.id, w.organization_id, w.owner_id, w.template_id, w.name, w.host_id, w.parameters, w.ttl_ms, w.deadline,
    w.max_deadline, w.last_used_at, w.build_number, w.deleted, w.created_at, w.updated_at,
    w.agent_address IS NOT NULL AS has_agent, u.username AS owner_name, t.name AS template_name, b.id AS build_id,
    b.transition, b.status AS build_status, b.error AS build_error, b.error_code AS build_error_code,
    b.created_at AS build_created_at, b.finished_at AS build_finished_at
FROM workspaces w
JOIN users u ON u.id = w.owner_id
JOIN templates t ON t.id = w.template_id
JOIN workspace_builds b ON b.workspace_id = w.id AND b.number = w.build_number
WHERE NOT w.deleted AND (@owner_id::uuid IS NULL OR w.owner_id = @owner_id)
  AND w.id > coalesce(@after_id::uuid, '00000000-0000-0000-0000-000000000000')
  -- @authorize_filter owner=w.owner_id
ORDER BY w.id LIMIT @max_rows::int;

-- name: update_workspace :opt
-- @optional ttl_ms
UPDATE workspaces w SET name = @name, ttl_ms = @ttl_ms, updated_at = now()
WHERE w.id = @id AND NOT w.deleted
  -- @authorize_filter owner=w.owner_id
RETURNING w.id;

-- name: set_workspace_deadline :opt
-- Someone wants it to run until then; never beyond what the template allows. NULL: for ever.
-- @optional deadline
UPDATE workspaces w SET deadline = least(@deadline::timestamptz, w.max_deadline)
WHERE w.id = @id AND NOT w.deleted AND w.agent_address IS NOT NULL
  -- @authorize_filter owner=w.owner_id
RETURNING w.id;

-- name: get_workspace_spec :opt
-- All that a build needs to know.
SELECT
    w.id, w.name, w.owner_id, u.username AS owner_name, w.host_id, w.agent_token, w.agent_address, w.ttl_ms,
    w.build_number, w.deleted, t.name AS template_name, t.provisioner, t.config, t.allows_user_autostop,
    t.default_ttl_ms, t.max_lifetime_ms, b.parameters
FROM workspaces w
JOIN users u ON u.id = w.owner_id
JOIN templates t ON t.id = w.template_id
JOIN workspace_builds b ON b.workspace_id = w.id AND b.number = w.build_number
WHERE w.id = @id;

-- name: resolve_workspace :opt
-- The workspace that a chat is bound to, as its latest build left it: all NULL when it has none. Its owner is the chat's,
-- and whether they may still use chatd is told too.
-- @notnull is_owner_active
SELECT
    w.id, w.name, w.host_id, w.deleted, w.agent_address, w.agent_token, w.build_number, t.name AS template_name,
    b.id AS build_id, b.transition, b.status, b.reason, b.error,
    u.status = 'active' AND NOT u.deleted AS is_owner_active
FROM chats c
JOIN users u ON u.id = c.owner_id
LEFT JOIN workspaces w ON w.id = c.workspace_id AND w.owner_id = c.owner_id
LEFT JOIN templates t ON t.id = w.template_id
LEFT JOIN workspace_builds b ON b.workspace_id = w.id AND b.number = w.build_number
WHERE c.id = @chat_id
  -- @authorize_filter owner=c.owner_id
;

-- name: get_workspace_agent :opt
-- As resolve_workspace, by the workspace itself.
SELECT
    w.id, w.name, w.host_id, w.deleted, w.agent_address, w.agent_token, w.build_number, t.name AS template_name,
    b.id AS build_id, b.transition, b.status, b.reason, b.error, w.parameters
FROM workspaces w
JOIN templates t ON t.id = w.template_id
JOIN workspace_builds b ON b.workspace_id = w.id AND b.number = w.build_number
WHERE w.id = @id
  -- @authorize_filter owner=w.owner_id
;

-- name: bump_workspaces :exec
-- They were used just now: those of the chats that this replica runs, and these. A chat that waits for its client's
-- results does nothing in its workspace. The deadline moves to the template's
-- activity bump from now: never back, never beyond max_deadline, and only once 5 % of the bump have passed.
UPDATE workspaces w SET
    last_used_at = now(),
    deadline = CASE
        WHEN least(now() + bump.length, w.max_deadline) - w.deadline >= bump.length * 0.05
        THEN least(now() + bump.length, w.max_deadline)
        ELSE w.deadline
    END
FROM templates t, LATERAL (SELECT t.activity_bump_ms * interval '1 millisecond' AS length) AS bump
WHERE t.id = w.template_id AND w.agent_address IS NOT NULL AND NOT w.deleted
  AND w.id = ANY (ARRAY(
      SELECT c.workspace_id FROM chat_state s JOIN chats c ON c.id = s.chat_id
      WHERE s.replica_id = @replica_id::uuid AND s.status IN ('running', 'interrupting') AND c.workspace_id IS NOT NULL
      UNION
      SELECT used.id FROM unnest(@used_ids::uuid[]) AS used (id)
  ));

-- name: stop_overdue_workspaces :many
-- A stop build for each workspace whose deadline has passed, but for those that a chat works in, those that are built
-- right now, those whose last stop failed lately, and those of machines that are away.
WITH overdue AS (
    SELECT w.id FROM workspaces w
    JOIN workspace_builds b ON b.workspace_id = w.id AND b.number = w.build_number
    WHERE w.deadline <= now() AND NOT w.deleted
      AND (b.status = 'succeeded' OR (b.status IN ('failed', 'cancelled') AND b.finished_at < now() - @again_after::interval))
      AND (w.host_id IS NULL OR EXISTS (SELECT FROM hosts h WHERE h.id = w.host_id AND h.seen_at >= now() - host_time()))
      AND NOT EXISTS (
          SELECT FROM chats c JOIN chat_state s ON s.chat_id = c.id
          WHERE c.workspace_id = w.id AND s.status IN ('running', 'interrupting')
      )
    ORDER BY w.deadline LIMIT @max_rows::int
    FOR UPDATE OF w SKIP LOCKED
),
moved AS (
    UPDATE workspaces w SET build_number = w.build_number + 1, updated_at = now()
    FROM overdue WHERE w.id = overdue.id
    RETURNING w.id, w.build_number, w.parameters
)
INSERT INTO workspace_builds (id, workspace_id, number, transition, reason, parameters)
SELECT gen_random_uuid(), moved.id, moved.build_number, 'stop', 'autostop', moved.parameters FROM moved
RETURNING *;

-- name: list_host_workspaces :many
-- The workspaces of a machine that should run, after a cursor.
SELECT w.id FROM workspaces w
WHERE w.host_id = @host_id::text AND w.agent_address IS NOT NULL AND NOT w.deleted AND w.id > @after_id
ORDER BY w.id LIMIT @max_rows::int;

-- name: set_agent_address :exec
-- Where the agent was found, if nothing was built since.
UPDATE workspaces SET agent_address = @agent_address::text
WHERE id = @id AND build_number = @build_number AND agent_address IS NOT NULL AND NOT deleted;

-- name: count_running_workspaces :one
-- @notnull running
SELECT count(*) AS running FROM workspaces WHERE agent_address IS NOT NULL AND NOT deleted;

-- name: list_workspace_chats :many
-- For each of these workspaces the root chat that was last active in it.
SELECT DISTINCT ON (c.workspace_id) c.workspace_id, c.id, c.title, s.status, s.updated_at
FROM chats c JOIN chat_state s ON s.chat_id = c.id
WHERE c.workspace_id = ANY (@workspace_ids::uuid[]) AND NOT s.is_child AND NOT s.archived
  -- @authorize_filter owner=c.owner_id
ORDER BY c.workspace_id, s.updated_at DESC;

-- name: list_chats_in_workspace :many
-- The root chats that work in it, the last active first.
SELECT c.id, c.title, s.status, s.updated_at
FROM chats c JOIN chat_state s ON s.chat_id = c.id
WHERE c.workspace_id = @workspace_id::uuid AND NOT s.is_child AND NOT s.archived
  -- @authorize_filter owner=c.owner_id
ORDER BY s.updated_at DESC, c.id LIMIT @max_rows::int;
