-- A new chat at rest, with the history of another one up to a message that people see (NULL: all that is stored). It is
-- another way of create_chat. The source is only read, and not even locked: all is taken as it was at one snapshot of it.
-- What was hidden since then, by an edit, has a later revision.
--
-- A step is copied whole: results that follow the message come with it. Calls that have none get one that says why.
-- What was copied cost nothing here (copied_through); the tokens stay, since they say how full the context is.
-- only_owner: the source must be this user's, else it looks missing. Only files that the copied messages name are linked;
-- whoever may read the source may read them. It works in the
-- same workspace, if that is there and belongs to the same owner.
CREATE FUNCTION fork_chat(
    new_id uuid, owner uuid, source uuid, only_owner uuid, at_message bigint, new_title text
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    origin record;
    cut bigint;
BEGIN
    change := open_transition('create_chat', new_id, owner);
    IF change.outcome <> 'not_found' THEN
        RETURN change;
    END IF;
    SELECT
        c.organization_id, c.title, c.labels, c.mode, c.plan_mode, c.client, c.mcp_server_ids, c.dynamic_tools,
        s.snapshot_version, s.last_model_config_id, s.last_reasoning_effort, w.id AS workspace_id, w.host_id,
        (SELECT m.id FROM messages m WHERE m.chat_id = source ORDER BY m.id DESC LIMIT 1) AS newest
    INTO origin FROM chats c JOIN chat_state s ON s.chat_id = c.id
    LEFT JOIN workspaces w ON w.id = c.workspace_id AND w.owner_id = owner AND NOT w.deleted
    WHERE c.id = source AND (only_owner IS NULL OR s.owner_id = only_owner);
    IF NOT FOUND THEN
        RETURN change;
    END IF;
    -- A change of a chat that has just been born, until something refuses it.
    change.chat_id := new_id;
    change.snapshot_before := 0;
    change.owner_id := owner;
    change.is_child := false;
    change.status := 'waiting';
    change.archived := false;
    change.has_open_calls := true; -- cancel_open_calls looks
    change.has_draft := false;
    change.takeovers := 0;
    change.queue_length := 0;
    change.held_length := 0;
    change.generation_attempt := 0;
    change.snapshot_version := 1;
    change.history_version := 1;
    change.history_before := 1; -- what was copied is not said here, so nobody can add it to anything
    change.queue_version := 0;
    change.retry_version := 0;
    change.last_model_config_id := origin.last_model_config_id;
    change.last_reasoning_effort := origin.last_reasoning_effort;
    change.host_id := origin.host_id;
    change.happened_at := now();
    change.updated_at := change.happened_at;
    SELECT m.id INTO cut FROM messages m
    WHERE m.chat_id = source AND m.id <= least(at_message, origin.newest)
      AND m.visibility IN ('user', 'both') AND (NOT m.deleted OR m.revision > origin.snapshot_version)
    ORDER BY m.id DESC LIMIT 1;
    IF NOT FOUND OR cut <> at_message THEN
        RETURN refused(change, 'message_not_found', at_message::text);
    END IF;
    cut := coalesce((
        SELECT m.id - 1 FROM messages m
        WHERE m.chat_id = source AND m.id > cut AND m.id <= origin.newest AND m.role <> 'tool'
          AND (NOT m.deleted OR m.revision > origin.snapshot_version)
        ORDER BY m.id LIMIT 1
    ), origin.newest);
    change.outcome := 'applied';
    change.landings := transition_table() -> 'create_chat' -> 'N';
    PERFORM set_config('chatd.transition', 'create_chat', true);
    INSERT INTO chats (
        id, organization_id, owner_id, title, labels, mode, plan_mode, client, mcp_server_ids, dynamic_tools, created_at,
        forked_from_chat_id, forked_from_message_id, workspace_id
    ) VALUES (
        new_id, origin.organization_id, owner,
        coalesce(new_title, left(regexp_replace(origin.title, ' \(fork\)$', ''), 190) || ' (fork)'),
        origin.labels, origin.mode, origin.plan_mode, origin.client, origin.mcp_server_ids, origin.dynamic_tools,
        change.happened_at, source, at_message, origin.workspace_id
    )
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN refused(change, 'id_taken', new_id::text);
    END IF;
    INSERT INTO chat_state (
        chat_id, owner_id, is_child, status, archived, has_open_calls, has_draft, takeovers, queue_length, held_length,
        generation_attempt, snapshot_version, history_version, queue_version, retry_version, last_model_config_id,
        last_reasoning_effort, updated_at, host_id
    ) VALUES (
        new_id, owner, false, 'waiting', false, false, false, 0, 0, 0, 0, 1, 1, 0, 0, change.last_model_config_id,
        change.last_reasoning_effort, change.updated_at, change.host_id
    );
    WITH copied AS (
        INSERT INTO messages (
            chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content, created_by,
            model_config_id, reasoning_effort, input_tokens, output_tokens, total_tokens, reasoning_tokens,
            cache_creation_tokens, cache_read_tokens, context_limit, cost_microdollars
        )
        SELECT
            new_id, m.created_at, 1, m.role, m.visibility, m.compressed, false, m.content_version, m.content,
            m.created_by, m.model_config_id, m.reasoning_effort, m.input_tokens, m.output_tokens, m.total_tokens,
            m.reasoning_tokens, m.cache_creation_tokens, m.cache_read_tokens, m.context_limit,
            0 * m.cost_microdollars
        FROM messages m
        WHERE m.chat_id = source AND m.id <= cut AND (NOT m.deleted OR m.revision > origin.snapshot_version)
        ORDER BY m.id
        RETURNING messages.id
    )
    SELECT array_agg(copied.id ORDER BY copied.id) INTO change.inserted_ids FROM copied;
    INSERT INTO chat_files (chat_id, file_id)
    SELECT new_id, l.file_id FROM chat_files l
    WHERE l.chat_id = source AND l.file_id::text IN (
        SELECT part ->> 'file_id' -- as text: one that is no id is no file, and hinders nothing
        FROM messages m, jsonb_path_query(m.content, '$[*] ? (@.type == "file" && @.file_id.type() == "string")') AS part
        WHERE m.chat_id = new_id
    );
    change := cancel_open_calls(change, 'The chat was forked before this call was answered.');
    -- What the asker has just seen is read.
    cut := greatest(
        change.inserted_ids[cardinality(change.inserted_ids)], change.added[cardinality(change.added)].id
    );
    UPDATE chats SET copied_through = cut, last_read_message_id = cut WHERE id = new_id;
    change.state_after := state_of(change.status, change.archived, change.queue_length);
    IF NOT change.landings ? change.state_after THEN
        RAISE EXCEPTION 'fork_chat led to %', change.state_after USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    change.landings := NULL;
    RETURN change;
END $$;
