-- A step is done: its answer and the results of its tools become part of the history, in one batch. finish: the turn is
-- over with it. compacted: it was the compaction that the user had asked for.
CREATE FUNCTION commit_step(
    target uuid, fence_runner uuid, fence_history bigint, rows message_row[], finish boolean, compacted boolean
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    message message_row := rows[1];
    is_last_answer boolean := finish AND cardinality(rows) = 1 AND message.role = 'assistant'
        AND NOT message.content @? '$[*] ? (@.type == "tool-call")';
    chat chat_state;
    at timestamptz;
    facts message_facts;
    change chat_change;
    id bigint;
BEGIN
    IF is_last_answer THEN
        chat := (SELECT s FROM chat_state s WHERE s.chat_id = target FOR NO KEY UPDATE);
    END IF;
    -- The common case, as in send_message: an answer that ends the turn, and nobody waits.
    IF chat.status = 'running' AND chat.queue_length = 0 AND NOT chat.archived AND NOT chat.has_draft
        AND NOT chat.has_open_calls AND chat.retry_state IS NULL AND chat.runner_id = fence_runner AND chat.history_version = fence_history
        AND transition_table() -> 'commit_step' -> 'R0' ? 'W'
    THEN
        PERFORM set_config('chatd.transition', 'commit_step', true);
        at := greatest(now(), chat.updated_at);
        INSERT INTO messages VALUES (
            target, DEFAULT, at, chat.snapshot_version + 1, message.role, coalesce(message.visibility, 'both'),
            coalesce(message.compressed, false), false, message.content_version, message.content,
            nullif(message.created_by, nobody), nullif(message.model_config_id, nobody), message.reasoning_effort,
            nullif(message.input_tokens, 0), nullif(message.output_tokens, 0), nullif(message.total_tokens, 0),
            nullif(message.reasoning_tokens, 0), nullif(message.cache_creation_tokens, 0),
            nullif(message.cache_read_tokens, 0), nullif(message.context_limit, 0), message.cost_microdollars,
            nullif(message.runtime_ms, 0)
        ) RETURNING messages.id INTO id;
        UPDATE chat_state SET
            status = 'waiting', takeovers = 0, generation_attempt = 0,
            snapshot_version = chat.snapshot_version + 1, history_version = chat.snapshot_version + 1,
            replica_id = NULL, runner_id = NULL, updated_at = at, compaction_requested_at = NULL,
            last_model_config_id = coalesce(nullif(message.model_config_id, nobody), chat.last_model_config_id),
            last_reasoning_effort = coalesce(message.reasoning_effort, chat.last_reasoning_effort)
        WHERE chat_id = target;
        RETURN ROW(
            target, chat.owner_id, chat.is_child, 'waiting', false, false, false, 0, 0, chat.held_length, 0,
            chat.snapshot_version + 1, chat.snapshot_version + 1, chat.queue_version, chat.retry_version, NULL, NULL,
            coalesce(nullif(message.model_config_id, nobody), chat.last_model_config_id),
            coalesce(message.reasoning_effort, chat.last_reasoning_effort), at, NULL, NULL, NULL, NULL,
            chat.host_id, 'commit_step', 'applied', 'R0', 'W', chat.snapshot_version, chat.history_version, at, ARRAY[id], NULL,
            NULL, NULL, NULL, NULL, NULL
        )::chat_change;
    END IF;
    facts := message_facts(rows);
    change := open_transition('commit_step', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    change := insert_messages(change, rows, facts);
    IF finish THEN
        RETURN close_transition(end_turn(change));
    END IF;
    change := forget_attempts(change);
    change.generation_attempt := 1; -- the next step follows at once
    change.takeovers := 0;
    IF compacted THEN
        change.compaction_requested_at := NULL;
    END IF;
    RETURN close_transition(change);
END $$;
