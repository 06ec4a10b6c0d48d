import { AppError } from '#server/platform/app-error.ts';

/** 409: the phone of the link has not polled yet, so that a test would be one of another phone or of none. */
export const notPolledError = () =>
  new AppError('conflict', 'The iPhone has not asked for messages yet. Run Ownline Outbox first.');
