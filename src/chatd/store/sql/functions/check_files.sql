-- Whether a message of this chat may name these files: all must be the chat owner's own, and with them the chat must not
-- have too many. Those that it has already cost nothing.
CREATE FUNCTION check_files(change chat_change, file_ids uuid[], most integer) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    missing uuid;
BEGIN
    IF coalesce(cardinality(file_ids), 0) = 0 THEN
        RETURN change;
    END IF;
    -- Locked, so that nobody sweeps them away meanwhile; in one order, so that two never wait for each other.
    PERFORM FROM files f WHERE f.id = ANY (file_ids) AND f.owner_id = change.owner_id ORDER BY f.id FOR KEY SHARE;
    SELECT asked.id INTO missing FROM unnest(file_ids) AS asked (id)
    WHERE NOT EXISTS (SELECT FROM files f WHERE f.id = asked.id AND f.owner_id = change.owner_id) LIMIT 1;
    IF FOUND THEN
        RETURN refused(change, 'file_not_found', missing::text);
    END IF;
    IF (
        SELECT count(*) FROM (
            SELECT l.file_id FROM chat_files l WHERE l.chat_id = change.chat_id UNION SELECT unnest(file_ids)
        ) AS linked
    ) > most THEN
        change.maximum := most;
        RETURN refused(change, 'too_many_files');
    END IF;
    RETURN change;
END $$;
