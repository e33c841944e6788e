-- What users set for their own turns, and what a turn reads of it.

-- name: get_turn_context :opt
-- All that a turn needs beside the state of its chat and what is cached: the chat, its owner's own prompt, and from which
-- percentage on the owner wants this model's context to be summarised (NULL: the model's own threshold). The hash is that
-- of what the chat's workspace told it; NULL: nothing yet.
-- @notnull custom_prompt, is_owner_active
SELECT
    c.*,
    (SELECT u.status = 'active' AND NOT u.deleted FROM users u WHERE u.id = c.owner_id) AS is_owner_active,
    coalesce((SELECT u.custom_prompt FROM user_settings u WHERE u.user_id = c.owner_id), '') AS custom_prompt,
    (
        SELECT t.threshold_percent FROM user_compaction_thresholds t
        WHERE t.user_id = c.owner_id AND t.model_config_id = @model_config_id
    ) AS compaction_threshold,
    (SELECT x.hash FROM chat_contexts x WHERE x.chat_id = c.id) AS context_hash
FROM chats c WHERE c.id = @chat_id;

-- name: get_custom_prompt :opt
SELECT custom_prompt FROM user_settings WHERE user_id = @user_id;

-- name: upsert_custom_prompt :exec
INSERT INTO user_settings (user_id, custom_prompt) VALUES (@user_id, @custom_prompt)
ON CONFLICT (user_id) DO UPDATE SET custom_prompt = excluded.custom_prompt, updated_at = now();

-- name: list_compaction_thresholds :many
SELECT t.model_config_id, t.threshold_percent
FROM user_compaction_thresholds t JOIN model_configs m ON m.id = t.model_config_id
WHERE t.user_id = @user_id AND NOT m.deleted
ORDER BY t.model_config_id;

-- name: upsert_compaction_threshold :exec
INSERT INTO user_compaction_thresholds (user_id, model_config_id, threshold_percent)
VALUES (@user_id, @model_config_id, @threshold_percent)
ON CONFLICT (user_id, model_config_id) DO UPDATE SET threshold_percent = excluded.threshold_percent, updated_at = now();

-- name: delete_compaction_threshold :exec
DELETE FROM user_compaction_thresholds WHERE user_id = @user_id AND model_config_id = @model_config_id;
