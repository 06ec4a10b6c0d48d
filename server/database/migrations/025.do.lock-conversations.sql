-- Locks the conversations of hand-outs that share a commit, and skips locked ones (decisions 0039 and 0040).
CREATE FUNCTION lock_conversations(numbers uuid[], contacts text[]) RETURNS TABLE (number_id uuid, contact text)
LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  RETURN QUERY SELECT l.number_id, l.contact FROM unnest(numbers, contacts) AS i (number_id, contact)
    CROSS JOIN LATERAL (
      SELECT c.number_id, c.contact FROM conversations c
      WHERE c.number_id = i.number_id AND c.contact = i.contact FOR NO KEY UPDATE SKIP LOCKED
    ) l;
END
$$;
