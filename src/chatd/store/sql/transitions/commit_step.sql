-- A step is done: its answer and the results of its tools become part of the history, in one batch. finish: the turn is
-- over with it. compacted: it was the compaction that the user had asked for.
CREATE FUNCTION commit_step(
    target uuid, fence_runner uuid, fence_history bigint, rows message_row[], finish boolean, compacted boolean
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    facts message_facts := message_facts(rows);
    change chat_change;
BEGIN
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
