-- Archives a family: its root and every child, or none of them. The root's change comes first; a refusal comes alone and
-- names the member that is in the way.
CREATE FUNCTION archive(target uuid, only_owner uuid) RETURNS SETOF chat_change LANGUAGE sql AS $$
    SELECT * FROM archive_family('archive', target, only_owner, true);
$$;
