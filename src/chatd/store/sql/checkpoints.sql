-- What was shown of answers that are still being written, for whoever goes on after a crash.

-- name: write_checkpoints :one
-- For all chats of a replica at once; `done` are chats that moved on. How many ranges were written.
-- @notnull written
SELECT write_checkpoints(@writer::uuid, @ranges::checkpoint_row[], @done::uuid[]) AS written;

-- name: list_checkpoints :many
-- What the newest attempt over this history has shown, as far as it was stored, in order.
SELECT c.* FROM chat_checkpoints c JOIN chat_state s ON s.chat_id = c.chat_id
WHERE c.chat_id = @chat_id AND c.history_version = @history_version
  AND (c.attempt, c.runner_id) = (
      SELECT n.attempt, n.runner_id FROM chat_checkpoints n
      WHERE n.chat_id = @chat_id AND n.history_version = @history_version
      ORDER BY n.attempt DESC, n.created_at DESC LIMIT 1
  )
  -- @authorize_filter owner=s.owner_id
ORDER BY c.first_seq;

-- name: delete_stale_checkpoints :exec
-- Those that no writer will delete: it died, or their chat is gone.
DELETE FROM chat_checkpoints c
WHERE NOT EXISTS (
    SELECT FROM chat_state s
    WHERE s.chat_id = c.chat_id AND s.history_version = c.history_version AND s.status IN ('running', 'interrupting')
);
