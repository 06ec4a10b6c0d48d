-- What the check of a backup's file did not prove (specification section 10.10); NULL where an empty database took all of it. The default is
-- for rows of earlier releases.
ALTER TABLE backups ADD COLUMN unproved text DEFAULT 'It was not loaded into a database by the release that wrote it.';
