-- name: insert_token :one
INSERT INTO tokens (id, user_id, kind, name, hash, scopes, expires_at, client_ip, user_agent)
VALUES (@id, @user_id, @kind, @name, @hash, @scopes, @expires_at, @client_ip, @user_agent)
RETURNING *;

-- name: insert_session :opt
-- A session, if the password that was verified is still the user's. The lock makes a change of it wait, and end this
-- session with the others, or come first, and leave no row here.
INSERT INTO tokens (id, user_id, kind, name, hash, scopes, expires_at, client_ip, user_agent)
SELECT @id, users.id, 'session', 'session', @hash, @scopes::text[], @expires_at, @client_ip, @user_agent
FROM users
WHERE users.id = @user_id AND users.password_hash = @verified AND users.status = 'active' AND NOT users.deleted
FOR SHARE
RETURNING *;

-- name: count_tokens_by_user :one
-- @notnull count
SELECT count(*) AS count FROM tokens WHERE user_id = @user_id AND kind = @kind AND expires_at > now();

-- name: delete_oldest_sessions :exec
-- Keeps a user's newest sessions.
DELETE FROM tokens WHERE user_id = @user_id AND id IN (
    SELECT old.id FROM tokens old WHERE old.user_id = @user_id AND old.kind = 'session' ORDER BY old.id DESC OFFSET @keep::int
);

-- name: get_token_by_id :one
SELECT * FROM tokens WHERE id = @id;

-- name: authenticate_token :opt
-- Who presents this token, when it is valid now and its user may sign in.
SELECT tokens.id AS token_id, tokens.kind, tokens.scopes, tokens.expires_at, users.id AS user_id, users.username, users.role
FROM tokens JOIN users ON users.id = tokens.user_id
WHERE tokens.hash = @hash AND tokens.expires_at > now() AND users.status = 'active' AND NOT users.deleted;

-- name: list_tokens_by_user :many
-- A user's sessions or API tokens, newest first; expired ones are not shown.
-- @optional before_id
SELECT * FROM tokens
WHERE user_id = @user_id AND kind = @kind AND expires_at > now() AND (@before_id::uuid IS NULL OR id < @before_id)
ORDER BY id DESC
LIMIT @max_rows::int;

-- name: delete_token :exec
DELETE FROM tokens WHERE id = @id;

-- name: delete_user_sessions :exec
-- Signs a user out everywhere, but for one session.
-- @optional except_id
DELETE FROM tokens WHERE user_id = @user_id AND kind = 'session' AND (@except_id::uuid IS NULL OR id <> @except_id);

-- name: delete_user_tokens :exec
-- Sessions and API tokens.
DELETE FROM tokens WHERE user_id = @user_id;

-- name: delete_expired_tokens :exec
DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE expires_at < now() - @expired_for::interval LIMIT @max_rows::int);

-- name: touch_tokens_last_used :batch
UPDATE tokens SET last_used_at = greatest(last_used_at, used.at)
FROM unnest(@id::uuid[], @used_at::timestamptz[]) AS used (id, at)
WHERE tokens.id = used.id;
