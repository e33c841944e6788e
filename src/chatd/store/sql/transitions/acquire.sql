-- A replica takes chats that should run and that nobody runs, as many as it brings runner ids for: those without an
-- owner, and those of silent replicas, if it has itself been beating for a lease (after a restart of the database
-- everyone looks silent at first). The most urgent first, roots and children in turn, those that wait longest first. One
-- that was taken over too often without a commit is given up instead. Chats whose workspace is on another machine are
-- left to the replicas there.
--
-- Capacities (NULL: no limit) bound how many chats of a pool generate; stopping and waiting chats need no slot.
CREATE FUNCTION acquire(
    taker uuid, runner_ids uuid[], root_capacity integer, child_capacity integer, most_takeovers integer, error jsonb
) RETURNS SETOF chat_change LANGUAGE plpgsql AS $$
DECLARE
    batch integer := cardinality(runner_ids);
    root_slots integer := CASE WHEN root_capacity IS NOT NULL THEN free_slots(false, root_capacity) END;
    child_slots integer := CASE WHEN child_capacity IS NOT NULL THEN free_slots(true, child_capacity) END;
    silent uuid[];
    elsewhere text[] := hosts_elsewhere(taker);
    candidate record;
    change chat_change;
    taken integer := 0;
BEGIN
    -- A heartbeat from the future was written before the clock of the database was set back. Whether its replica still
    -- lives shows within a lease from now.
    UPDATE replicas r SET heartbeat_at = now()
    WHERE r.id IN (SELECT f.id FROM replicas f WHERE f.heartbeat_at > now() + lease_time() FOR UPDATE SKIP LOCKED);
    IF EXISTS (
        SELECT FROM replicas r
        WHERE r.id = taker AND r.beating_since <= now() - lease_time() AND r.heartbeat_at >= now() - lease_time()
    ) THEN
        silent := ARRAY(SELECT s.id FROM silent_replicas() AS s WHERE s.id <> taker);
    END IF;
    FOR candidate IN
        SELECT found.chat_id, found.status, found.is_child
        FROM (
            SELECT * FROM free_chats(false, batch, elsewhere)
            UNION ALL
            SELECT * FROM free_chats(true, batch, elsewhere)
            UNION ALL
            SELECT * FROM chats_of(silent, false, batch, elsewhere)
            UNION ALL
            SELECT * FROM chats_of(silent, true, batch, elsewhere)
        ) AS found
        ORDER BY
            found.status DESC,
            row_number() OVER (PARTITION BY found.status, found.is_child ORDER BY found.updated_at),
            found.is_child
    LOOP
        EXIT WHEN taken = batch;
        IF candidate.status = 'running' THEN
            CONTINUE WHEN CASE WHEN candidate.is_child THEN child_slots ELSE root_slots END = 0;
        END IF;
        BEGIN
            change := take_over(candidate.chat_id, taker, runner_ids[taken + 1], most_takeovers, error);
        EXCEPTION WHEN integrity_constraint_violation THEN
            -- One chat that breaks a rule must not keep all others waiting.
            RAISE WARNING 'chat % can''t be taken: %', candidate.chat_id, SQLERRM;
            CONTINUE;
        END;
        RETURN NEXT change;
        CONTINUE WHEN change.runner_id IS NULL; -- given up
        taken := taken + 1;
        IF candidate.status = 'running' AND candidate.is_child THEN
            child_slots := child_slots - 1;
        ELSIF candidate.status = 'running' THEN
            root_slots := root_slots - 1;
        END IF;
    END LOOP;
END $$;
