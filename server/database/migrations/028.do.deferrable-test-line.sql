-- A rule across tables is a deferrable constraint trigger: a restore loads tables in the order of their foreign keys, and checks
-- the rule after the last row (decision 0044).
DROP TRIGGER numbers_test_line ON numbers;
CREATE CONSTRAINT TRIGGER numbers_test_line AFTER INSERT ON numbers DEFERRABLE FOR EACH ROW EXECUTE FUNCTION guard_test_line();
