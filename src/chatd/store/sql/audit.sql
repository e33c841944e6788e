-- Who changed what. Changes are written by triggers (migrations, write_audit).

-- name: set_audit_actor :exec
-- Until the end of the transaction, changes are this actor's.
-- @optional id
SELECT set_config(
    'chatd.audit',
    jsonb_build_object(
        'kind', @kind::text, 'id', @id::uuid, 'name', @name::text, 'request_id', @request_id::text,
        'client_address', @client_address::text
    )::text,
    true
);

-- name: insert_refused_attempt :exec
-- Someone asked for a change and may not make it. `target` is what they asked for.
-- @optional actor_id
INSERT INTO audit_log (
    actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, changes, outcome, request_id,
    client_address
) VALUES (
    'user', @actor_id, @actor_name, @action, @target_kind, '', @target, '{}', 'refused', @request_id, @client_address
);

-- name: list_audit_entries :many
-- Newest first, before a cursor.
-- @optional before_id, actor_id, action, target_kind, target_id, outcome, since, until
SELECT * FROM audit_log
WHERE id < coalesce(@before_id::bigint, 9223372036854775807)
  AND (@actor_id::uuid IS NULL OR actor_id = @actor_id)
  AND (@action::text IS NULL OR action = @action)
  AND (@target_kind::text IS NULL OR target_kind = @target_kind)
  AND (@target_id::text IS NULL OR target_id = @target_id)
  AND (@outcome::text IS NULL OR outcome = @outcome)
  AND (@since::timestamptz IS NULL OR at >= @since)
  AND (@until::timestamptz IS NULL OR at < @until)
ORDER BY id DESC
LIMIT @max_rows::int;

-- name: delete_old_audit_entries :exec
DELETE FROM audit_log WHERE id IN (
    SELECT old.id FROM audit_log old WHERE old.at < now() - @older_than::interval ORDER BY old.at LIMIT @max_rows::int
);
