-- Ties files that check_files has admitted to the chat, so that they stay as long as it does.
CREATE FUNCTION link_files(target uuid, file_ids uuid[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO chat_files (chat_id, file_id) SELECT target, unnest(file_ids) ON CONFLICT DO NOTHING;
$$;
