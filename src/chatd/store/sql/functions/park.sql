-- The chat stops on an error, and nobody runs it or will answer its calls.
CREATE FUNCTION park(change chat_change, error jsonb) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    change := cancel_open_calls(change, 'The turn ended on an error before this call was answered.');
    change.status := 'error';
    change.last_error := error;
    RETURN rest(change);
END $$;
