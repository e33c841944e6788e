-- Gives a chat that nobody runs any more to another replica; or gives it up when that has happened too often.
CREATE FUNCTION take_over(target uuid, taker uuid, taker_runner uuid, most_takeovers integer, error jsonb)
RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change := open_transition('acquire', target, NULL);
BEGIN
    IF change.outcome <> 'applied' THEN
        RAISE EXCEPTION 'acquire is %', change.outcome USING ERRCODE = 'integrity_constraint_violation';
    ELSIF change.replica_id IS NOT NULL AND change.takeovers >= most_takeovers THEN
        RETURN give_up(target, error);
    END IF;
    change.takeovers := change.takeovers + (change.replica_id IS NOT NULL)::integer;
    change.replica_id := taker;
    change.runner_id := taker_runner;
    RETURN close_transition(change);
END $$;
