-- The turn is over: the first message that waits begins the next one with the same owner, else the chat rests.
CREATE FUNCTION end_turn(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    IF change.queue_length = 0 THEN
        change.status := 'waiting';
        RETURN rest(change);
    END IF;
    change := cancel_open_calls(change, 'A message that was waiting came before this call was answered.');
    change := begin_turn(promote_head(change));
    change.generation_attempt := 1;
    RETURN change;
END $$;
