-- Opens an archived family again.
CREATE FUNCTION unarchive(target uuid, only_owner uuid) RETURNS SETOF chat_change LANGUAGE sql AS $$
    SELECT * FROM archive_family('unarchive', target, only_owner, false);
$$;
