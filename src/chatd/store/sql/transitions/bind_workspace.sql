-- The chat works in this workspace of its owner from now on; NULL: in none. Asked for by the owner, or reported by the
-- runner whose turn has made the workspace (fence_runner). A chat that runs stays with its replica, so the workspace must
-- be one that this replica's machine reaches.
CREATE FUNCTION bind_workspace(target uuid, only_owner uuid, fence_runner uuid, workspace uuid) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('bind_workspace', target, only_owner, fence_runner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    change.host_id := NULL;
    IF workspace IS NOT NULL THEN
        change := place_chat(change, (SELECT c.organization_id FROM chats c WHERE c.id = target), workspace);
        IF change.outcome <> 'applied' THEN
            RETURN change;
        ELSIF change.replica_id IS NOT NULL AND change.host_id = ANY (hosts_elsewhere(change.replica_id)) THEN
            RETURN refused(change, 'runs_elsewhere', change.host_id);
        END IF;
    END IF;
    UPDATE chats c SET workspace_id = workspace, context_dirty_since = NULL
    WHERE c.id = target AND c.workspace_id IS DISTINCT FROM workspace;
    RETURN close_transition(change);
END $$;
