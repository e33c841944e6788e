-- Browsers that are told when a turn ends.

-- name: upsert_push_subscription :exec
-- The lock lets a user's subscriptions come one after the other, so that the oldest can be counted off. Nothing is stored
-- when the token is gone.
INSERT INTO push_subscriptions (id, user_id, token_id, endpoint_hash, endpoint, p256dh, auth)
SELECT @id, users.id, tokens.id, @endpoint_hash, @endpoint::encrypted_text, @p256dh, @auth::encrypted_text
FROM users JOIN tokens ON tokens.user_id = users.id
WHERE users.id = @user_id AND tokens.id = @token_id
FOR NO KEY UPDATE OF users
ON CONFLICT (endpoint_hash) DO UPDATE SET
    id = excluded.id, user_id = excluded.user_id, token_id = excluded.token_id, endpoint = excluded.endpoint,
    p256dh = excluded.p256dh, auth = excluded.auth, created_at = excluded.created_at;

-- name: delete_oldest_push_subscriptions :exec
-- Keeps a user's newest.
DELETE FROM push_subscriptions WHERE user_id = @user_id AND id IN (
    SELECT old.id FROM push_subscriptions old WHERE old.user_id = @user_id ORDER BY old.id DESC OFFSET @keep::int
);

-- name: list_push_subscriptions :many
-- Those of a user who may sign in, made by who still is signed in.
SELECT s.id, s.endpoint, s.p256dh, s.auth
FROM push_subscriptions s JOIN tokens t ON t.id = s.token_id JOIN users u ON u.id = s.user_id
WHERE s.user_id = @user_id AND t.expires_at > now() AND u.status = 'active' AND NOT u.deleted
ORDER BY s.id DESC
LIMIT @max_rows::int;

-- name: delete_push_subscription :exec
-- A browser wants no more.
DELETE FROM push_subscriptions WHERE user_id = @user_id AND endpoint_hash = @endpoint_hash;

-- name: drop_push_subscription :exec
-- The push service knows it no more. One that was renewed since has another id, and stays.
DELETE FROM push_subscriptions WHERE id = @id;
