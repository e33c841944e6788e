-- Puts a chat where a workspace of its owner is, in the same organization; refuses it when there is no such one.
CREATE FUNCTION place_chat(change chat_change, organization uuid, workspace uuid) RETURNS chat_change
LANGUAGE plpgsql AS $$
BEGIN
    SELECT w.host_id INTO change.host_id FROM workspaces w
    WHERE w.id = workspace AND w.owner_id = change.owner_id AND w.organization_id = organization AND NOT w.deleted;
    IF NOT FOUND THEN
        RETURN refused(change, 'workspace_not_found', workspace::text);
    END IF;
    RETURN change;
END $$;
