-- name: get_default_organization :one
SELECT * FROM organizations WHERE is_default;

-- name: get_site_setting :opt
SELECT value FROM site_settings WHERE key = @key;

-- name: list_site_settings :many
-- Those of these keys that are set.
SELECT key, value FROM site_settings WHERE key = ANY (@keys::text[]) ORDER BY key;

-- name: delete_site_setting :exec
DELETE FROM site_settings WHERE key = @key;

-- name: upsert_site_setting :exec
INSERT INTO site_settings (key, value) VALUES (@key, @value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now();

-- name: list_versions :many
SELECT area, version FROM versions ORDER BY area;

-- name: get_secret :opt
SELECT value FROM secrets WHERE name = @name;

-- name: insert_secret_if_absent :exec
-- The first writer wins; the others read what it wrote.
INSERT INTO secrets (name, value) VALUES (@name, @value) ON CONFLICT (name) DO NOTHING;

-- name: list_encryption_keys :many
SELECT * FROM encryption_keys ORDER BY created_at, id;

-- name: insert_encryption_key :exec
-- A key that was revoked and is used again is no longer revoked.
INSERT INTO encryption_keys (id, canary) VALUES (@id, @canary)
ON CONFLICT (id) DO UPDATE SET revoked_at = NULL;

-- name: revoke_encryption_keys_except :exec
UPDATE encryption_keys SET revoked_at = now() WHERE id <> @id AND revoked_at IS NULL;
