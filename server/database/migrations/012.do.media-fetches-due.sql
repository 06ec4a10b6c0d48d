-- The fetches that are due longest, of all teams and origins: a claim looks at these besides those that it walks to.
CREATE INDEX media_fetches_due ON media_fetches (due_at);
