-- name: get_group_by_id :one
SELECT * FROM groups WHERE id = @id;

-- name: list_groups :many
-- @optional after_id
SELECT * FROM groups
WHERE (@after_id::uuid IS NULL OR id > @after_id)
  -- @authorize_filter member=id
ORDER BY id
LIMIT @max_rows::int;

-- name: insert_group :one
INSERT INTO groups (id, name, display_name) VALUES (@id, @name, @display_name) RETURNING *;

-- name: update_group :one
UPDATE groups SET name = @name, display_name = @display_name WHERE id = @id RETURNING *;

-- name: delete_group :exec
DELETE FROM groups WHERE id = @id;

-- name: insert_group_members :batch
-- Adds users to a group; those who are in it stay. Unknown users break the foreign key.
INSERT INTO group_members (group_id, user_id)
SELECT @group_id, member.id FROM unnest(@user_id::uuid[]) AS member (id)
ON CONFLICT ON CONSTRAINT group_members_pkey DO NOTHING;

-- name: delete_group_member :exec
DELETE FROM group_members WHERE group_id = @group_id AND user_id = @user_id;

-- name: list_group_members :many
-- Who is in a group: what its members may know of each other.
-- @optional after_id
SELECT users.id, users.username, users.display_name
FROM users JOIN group_members ON group_members.user_id = users.id
WHERE group_members.group_id = @group_id AND NOT users.deleted AND (@after_id::uuid IS NULL OR users.id > @after_id)
ORDER BY users.id
LIMIT @max_rows::int;

-- name: list_group_ids_by_user :many
SELECT group_id FROM group_members WHERE user_id = @user_id ORDER BY group_id;
