-- A new chat that runs at once. Its id is minted by the caller; a child names its parent and belongs to the parent's
-- owner and family, and works where the parent works unless it names a workspace of its own.
CREATE FUNCTION create_chat(
    new_id uuid, organization uuid, owner uuid, parent uuid, title text, labels jsonb, mode chat_mode,
    plan_mode boolean, client chat_client, mcp_server_ids uuid[], dynamic_tools jsonb, model_config_id uuid,
    reasoning_effort reasoning_effort, rows message_row[], file_ids uuid[], most_files integer,
    workspace uuid, taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    facts message_facts := message_facts(rows);
    change chat_change;
    root uuid;
BEGIN
    change := open_transition('create_chat', new_id, owner);
    IF change.outcome <> 'not_found' THEN
        RETURN change;
    END IF;
    -- A change of a chat that has just been born, until something refuses it.
    change.happened_at := now();
    change.chat_id := new_id;
    change.owner_id := owner;
    change.is_child := parent IS NOT NULL;
    change.archived := false;
    change.has_open_calls := false;
    change.has_draft := false;
    change.queue_length := 0;
    change.held_length := 0;
    change.snapshot_before := 0;
    change.history_before := 0;
    change.snapshot_version := 1;
    change.queue_version := 0;
    change.retry_version := 0;
    change.last_model_config_id := model_config_id;
    change.last_reasoning_effort := reasoning_effort;
    change := begin_turn(change);
    IF parent IS NOT NULL THEN
        SELECT coalesce(c.root_chat_id, c.id), coalesce(workspace, c.workspace_id) INTO root, workspace
        FROM chats c WHERE c.id = parent AND c.owner_id = owner;
        -- The root can't be archived until this is done, so no child is ever open below an archived chat.
        PERFORM FROM chat_state s WHERE s.chat_id = root AND NOT s.archived FOR SHARE;
        IF NOT FOUND THEN
            RETURN refused(change, 'parent_not_open', parent::text);
        END IF;
    END IF;
    IF workspace IS NOT NULL THEN
        change := place_chat(change, organization, workspace);
        IF change.outcome <> 'not_found' THEN
            RETURN change;
        END IF;
    END IF;
    change := check_files(change, file_ids, most_files);
    IF change.outcome <> 'not_found' THEN
        RETURN change;
    END IF;
    change.landings := transition_table() -> 'create_chat' -> 'N';
    change.outcome := 'applied';
    change := take_ownership(change, taker, taker_runner, root_capacity, child_capacity);
    PERFORM set_config('chatd.transition', 'create_chat', true);
    INSERT INTO chats (
        id, organization_id, owner_id, parent_chat_id, root_chat_id, title, labels, mode, plan_mode, client,
        mcp_server_ids, dynamic_tools, workspace_id, created_at
    ) VALUES (
        new_id, organization, owner, parent, root, title, labels, mode, plan_mode, client, mcp_server_ids,
        dynamic_tools, workspace, change.happened_at
    )
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN refused(change, 'id_taken', new_id::text);
    END IF;
    -- Written as it is before its messages, which refer to it; close_transition has nothing left to update but them.
    INSERT INTO chat_state (
        chat_id, owner_id, is_child, status, archived, has_open_calls, has_draft, takeovers, queue_length, held_length,
        generation_attempt, snapshot_version, history_version, queue_version, retry_version, replica_id, runner_id,
        last_model_config_id, last_reasoning_effort, updated_at, host_id
    ) VALUES (
        change.chat_id, change.owner_id, change.is_child, change.status, change.archived,
        facts.has_open_calls, change.has_draft, change.takeovers, change.queue_length, change.held_length,
        change.generation_attempt, change.snapshot_version, change.history_version, change.queue_version,
        change.retry_version, change.replica_id, change.runner_id,
        coalesce(facts.model_config_id, change.last_model_config_id),
        coalesce(facts.reasoning_effort, change.last_reasoning_effort), change.updated_at,
        change.host_id
    );
    change := insert_messages(change, rows, facts);
    PERFORM link_files(new_id, file_ids);
    change.state_after := state_of(change.status, change.archived, change.queue_length);
    IF NOT change.landings ? change.state_after THEN
        RAISE EXCEPTION 'create_chat led to %', change.state_after USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    change.landings := NULL;
    RETURN change;
END $$;
