-- Root first, then the children in order of their ids: whoever else locks more than one chat of a family does the same.
-- A child that is as it should be already is told all the same.
CREATE FUNCTION archive_family(name text, target uuid, only_owner uuid, wanted boolean) RETURNS SETOF chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    changes chat_change[];
    member uuid;
    worked_at timestamptz;
BEGIN
    change := open_transition(name, target, only_owner);
    IF change.outcome = 'applied' AND change.is_child THEN
        change := refused(change, 'not_root', target::text);
    END IF;
    IF change.outcome <> 'applied' THEN
        RETURN NEXT change;
        RETURN;
    END IF;
    changes := ARRAY[change];
    -- Nobody can add a child while the root is locked (create_chat).
    FOR member IN SELECT c.id FROM chats c WHERE c.root_chat_id = target ORDER BY c.id LOOP
        change := open_transition(name, member, only_owner);
        IF change.outcome = 'not_allowed' AND change.archived = wanted THEN
            change.outcome := 'applied';
            change.landings := jsonb_build_array(change.state_before);
            change.snapshot_version := change.snapshot_version + 1;
        ELSIF change.outcome <> 'applied' THEN
            RETURN NEXT refused(change, change.outcome, member::text);
            RETURN;
        END IF;
        changes := changes || change;
    END LOOP;
    FOREACH change IN ARRAY changes LOOP
        change.archived := wanted;
        -- When it was last at work stays: a chat that is brought back comes to the place that it had.
        worked_at := change.updated_at;
        IF change.replica_id IS NOT NULL THEN
            change := rest(change);
        END IF;
        change.updated_at := worked_at;
        RETURN NEXT close_transition(change);
    END LOOP;
    IF wanted THEN
        UPDATE chats c SET pin_order = 0 WHERE c.id = target AND c.pin_order > 0;
    END IF;
END $$;
