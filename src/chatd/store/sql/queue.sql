-- name: list_queued_messages :many
-- What waits in a chat, first to last; a held one is being edited.
SELECT q.* FROM queued_messages q JOIN chat_state s ON s.chat_id = q.chat_id
WHERE q.chat_id = @chat_id
  -- @authorize_filter owner=s.owner_id
ORDER BY q.position, q.id;

-- name: get_draft :opt
-- The answer of a step whose tools still run.
SELECT d.* FROM chat_drafts d JOIN chat_state s ON s.chat_id = d.chat_id
WHERE d.chat_id = @chat_id
  -- @authorize_filter owner=s.owner_id
;
