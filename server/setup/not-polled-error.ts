import { conflict } from '#server/platform/app-error.ts';

/** 409: the link's phone has not polled yet, so a test would reach another phone or none. */
export const notPolledError = () =>
  conflict('The iPhone has not asked for messages yet. Run the shortcut Ownline Outbox first.');
