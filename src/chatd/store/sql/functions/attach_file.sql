-- A file that a tool has made for a chat of its owner: stored and tied to the chat at once, or not at all. Asked for again with the same
-- id, nothing is done again.
CREATE FUNCTION attach_file(
    target uuid, file uuid, organization uuid, owner uuid, file_name text, kind text, digest bytea, content bytea, most integer
) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO files (id, organization_id, owner_id, name, media_type, size, sha256, data)
    VALUES (file, organization, owner, file_name, kind, octet_length(content), digest, content)
    ON CONFLICT (id) DO NOTHING;
    -- Not before: the content may take its time, and whoever changes the chat waits for this lock.
    PERFORM FROM chat_state s WHERE s.chat_id = target AND s.owner_id = owner FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        DELETE FROM files f WHERE f.id = file AND NOT EXISTS (SELECT FROM chat_files l WHERE l.file_id = f.id);
        RETURN 'not_found';
    END IF;
    IF EXISTS (SELECT FROM chat_files l WHERE l.chat_id = target AND l.file_id = file) THEN
        RETURN 'attached';
    END IF;
    IF (SELECT count(*) FROM chat_files l WHERE l.chat_id = target) >= most THEN
        DELETE FROM files f WHERE f.id = file AND NOT EXISTS (SELECT FROM chat_files l WHERE l.file_id = f.id);
        RETURN 'too_many_files';
    END IF;
    INSERT INTO chat_files (chat_id, file_id) VALUES (target, file);
    RETURN 'attached';
END $$;
