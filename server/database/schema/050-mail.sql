-- Mail (specification section 10.6): a row is written in the transaction of its cause, and sent after the commit.
CREATE TABLE mails (
  id uuid PRIMARY KEY,
  recipient text NOT NULL CHECK (char_length(recipient) BETWEEN 3 AND 254),
  -- Subject, text and HTML, encrypted because they contain links that sign people in. Erased once the mail is sent or
  -- given up.
  body bytea,
  created_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  next_attempt_at timestamptz NOT NULL,
  -- When the lease of a process ends. After that the process counts as dead, and another one takes the mail.
  leased_until timestamptz,
  sent_at timestamptz,
  failed_at timestamptz,
  -- Error codes only, because a mail server's text may quote addresses and links.
  last_error text,
  -- When the link in the mail expires. After that the mail is not sent any more.
  expires_at timestamptz,
  -- The public id of the mail's subject, such as an invitation. The end of the subject cancels the mail.
  reference text,
  CONSTRAINT mail_ends_once CHECK (sent_at IS NULL OR failed_at IS NULL),
  CONSTRAINT body_while_open CHECK ((body IS NULL) = (sent_at IS NOT NULL OR failed_at IS NOT NULL)),
  CONSTRAINT leased_while_open CHECK (leased_until IS NULL OR body IS NOT NULL)
);
COMMENT ON TABLE mails IS
  'installation; not erased; kept while needed; a person; in backups. Mails that wait, and those that were sent lately.';
CREATE INDEX mails_open ON mails (next_attempt_at) WHERE body IS NOT NULL;
CREATE INDEX mails_reference ON mails (reference) WHERE reference IS NOT NULL;
