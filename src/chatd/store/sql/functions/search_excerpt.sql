-- The part of a long text in which a snippet is looked for: around the longest word of the question that is in it.
-- Headlines take time by the length of a text and the number of its hits, up to a second for the longest.
CREATE FUNCTION search_excerpt(said text, asked text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN length(said) <= 4096 THEN said ELSE substr(said, greatest(1, coalesce((
        SELECT found.place FROM (
            SELECT word.lexeme, regexp_instr(
                said, '\m' || regexp_replace(word.lexeme, '([^[:alnum:]])', '\\\1', 'g') || '\M', 1, 1, 0, 'i'
            ) AS place
            FROM (
                SELECT w.lexeme FROM unnest(to_tsvector('simple', asked)) AS w
                WHERE w.lexeme <> 'or' ORDER BY length(w.lexeme) DESC, w.lexeme LIMIT 3
            ) AS word
        ) AS found
        WHERE found.place > 0 ORDER BY length(found.lexeme) DESC LIMIT 1
    ), 1) - 1024), 4096) END;
$$;
