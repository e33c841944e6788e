-- name: insert_side_cost :opt
-- What a call beside the turns of a chat took and cost. Nothing is stored for a chat that is gone.
-- @optional input_tokens, output_tokens, reasoning_tokens, cache_creation_tokens, cache_read_tokens, cost_microdollars
INSERT INTO side_costs (
    chat_id, owner_id, kind, model_config_id, input_tokens, output_tokens, reasoning_tokens, cache_creation_tokens,
    cache_read_tokens, cost_microdollars
)
SELECT
    c.id, c.owner_id, @kind::side_kind, @model_config_id::uuid, @input_tokens::bigint, @output_tokens::bigint,
    @reasoning_tokens::bigint, @cache_creation_tokens::bigint, @cache_read_tokens::bigint, @cost_microdollars::bigint
FROM chats c
WHERE c.id = @chat_id
  -- @authorize_filter owner=c.owner_id
RETURNING id;
