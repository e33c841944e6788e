-- name: get_user_by_id :one
SELECT * FROM users WHERE id = @id AND NOT deleted;

-- name: get_user_by_login :opt
-- The user who signs in with this email address or username.
SELECT * FROM users WHERE (lower(email) = lower(@login) OR lower(username) = lower(@login)) AND NOT deleted
-- An email address can't be a username (no @ in those), so at most one row matches.
LIMIT 1;

-- name: get_user_by_username :opt
SELECT * FROM users WHERE lower(username) = lower(@username) AND NOT deleted;

-- name: list_users :many
-- Users in the order of their creation, after a cursor; `search` is part of a name or email address.
-- @optional after_id, search
SELECT * FROM users
WHERE NOT deleted
  AND (@after_id::uuid IS NULL OR id > @after_id)
  AND (@search::text IS NULL OR strpos(lower(username || ' ' || email || ' ' || display_name), lower(@search)) > 0)
  -- @authorize_filter owner=id
ORDER BY id
LIMIT @max_rows::int;

-- name: count_users :one
-- How many users match; for "25 of 312".
-- @optional search
-- @notnull count
SELECT count(*) AS count FROM users
WHERE NOT deleted
  AND (@search::text IS NULL OR strpos(lower(username || ' ' || email || ' ' || display_name), lower(@search)) > 0)
  -- @authorize_filter owner=id
;

-- name: has_any_user :one
-- @notnull exists
SELECT EXISTS (SELECT FROM users) AS exists;

-- name: insert_user :one
INSERT INTO users (id, email, username, display_name, password_hash, role)
VALUES (@id, @email, @username, @display_name, @password_hash, @role)
RETURNING *;

-- name: insert_first_user :opt
-- The owner of an empty deployment; no row when there is a user already or the code is not known.
-- @optional code_hash
-- @notnull id, email, username, display_name, password_hash, role, status, deleted, created_at, updated_at
SELECT * FROM create_first_user(@code_hash::bytea, @id::uuid, @email::text, @username::text, @display_name::text, @password_hash::text);

-- name: update_user_profile :one
UPDATE users SET email = @email, username = @username, display_name = @display_name, updated_at = now()
WHERE id = @id AND NOT deleted
RETURNING *;

-- name: update_user_role :one
UPDATE users SET role = @role, updated_at = now() WHERE id = @id AND NOT deleted RETURNING *;

-- name: update_user_status :one
UPDATE users SET status = @status, updated_at = now() WHERE id = @id AND NOT deleted RETURNING *;

-- name: update_user_password :one
UPDATE users SET password_hash = @password_hash, updated_at = now() WHERE id = @id AND NOT deleted RETURNING *;

-- name: rehash_password :exec
-- A stronger hash of the same password, unless the password was changed meanwhile.
UPDATE users SET password_hash = @stronger WHERE id = @id AND password_hash = @verified;

-- name: delete_user :exec
-- Messages and costs refer to the row, so it stays, hidden.
UPDATE users SET deleted = true, updated_at = now() WHERE id = @id AND NOT deleted;

-- name: lock_active_owners :many
-- Locks the owners who can sign in, so that two requests can't demote the last two at once.
SELECT id FROM users WHERE role = 'owner' AND status = 'active' AND NOT deleted ORDER BY id FOR UPDATE;

-- name: touch_users_last_seen :batch
UPDATE users SET last_seen_at = greatest(last_seen_at, seen.at)
FROM unnest(@id::uuid[], @seen_at::timestamptz[]) AS seen (id, at)
WHERE users.id = seen.id;
