-- What was said in a message, as far as it is searched: the beginning, in words. Of version 1, as all that we write.
CREATE FUNCTION message_text(content jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    -- 65,536 characters: a long answer has a tenth of it, and a tsvector can't hold more than a megabyte.
    SELECT left(string_agg(part #>> '{}', E'\n'), 65536)
    FROM jsonb_path_query(content, '$[*] ? (@.type == "text").text') AS part;
$$;
