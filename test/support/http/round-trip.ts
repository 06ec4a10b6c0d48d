import { changeBy } from '#test/support/database/statement.ts';

/** Runs an empty statement, so that the time of one round trip to the database passes. */
export const roundTrip = changeBy('SELECT');
