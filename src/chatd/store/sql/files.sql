-- A file is its owner's, and only its owner's chats can have it (check_files), and forks of them: who may read the one may
-- read the other, and who makes a fork could read its source.

-- name: insert_file :exec
INSERT INTO files (id, organization_id, owner_id, name, media_type, size, sha256, data)
VALUES (@id, @organization_id, @owner_id, @name, @media_type, octet_length(@data::bytea), @sha256, @data);

-- name: attach_file :one
-- A file that a tool has made for a chat of its owner. `attached`, also when it was before; `too_many_files` or `not_found` (the chat,
-- or one of another owner), and nothing was stored.
-- @notnull outcome
SELECT attach_file(
    @chat_id::uuid, @id::uuid, @organization_id::uuid, @owner_id::uuid, @name::text, @media_type::text, @sha256::bytea, @data::bytea,
    @most_files::int
) AS outcome;

-- name: get_file :opt
SELECT f.* FROM files f
WHERE f.id = @id
  -- @authorize_filter owner=f.owner_id
;

-- name: get_file_metadata :opt
-- All but the content.
SELECT f.id, f.owner_id, f.name, f.media_type, f.size, f.sha256, f.created_at FROM files f
WHERE f.id = @id
  -- @authorize_filter owner=f.owner_id
;

-- name: list_chat_files :many
-- The files of a chat, without their content, in the order of their upload.
SELECT f.id, f.owner_id, f.name, f.media_type, f.size, f.sha256, f.created_at
FROM chat_files l JOIN files f ON f.id = l.file_id
WHERE l.chat_id = @chat_id
  -- @authorize_filter owner=f.owner_id
ORDER BY f.id;

-- name: lock_orphan_files :many
-- Old files that no chat has. In a transaction: while they are locked no chat can be given them.
SELECT f.id FROM files f
WHERE f.created_at < now() - @older_than::interval
  -- Not NOT EXISTS: it may be made a join that reads all links first.
  AND (SELECT l.file_id FROM chat_files l WHERE l.file_id = f.id LIMIT 1) IS NULL
ORDER BY f.created_at
LIMIT @max_rows::int
FOR UPDATE SKIP LOCKED;

-- name: delete_orphan_files :exec
-- Those of the locked files that no chat was given between the search and the lock.
DELETE FROM files f
WHERE f.id = ANY (@ids::uuid[]) AND (SELECT l.file_id FROM chat_files l WHERE l.file_id = f.id LIMIT 1) IS NULL;
