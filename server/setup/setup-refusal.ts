import type { SetupRefusal } from '#contract/setup.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';

const ofRecipient: readonly SetupRefusal[] = ['not_a_number', 'own_number', 'recipients_used'];

/** A refused request of the setup page: 400, param to, if the recipient is the reason; otherwise 409. */
export function setupRefusal(reason: SetupRefusal, message: string): AppError {
  return ofRecipient.includes(reason)
    ? invalid('to', message, { reason })
    : new AppError('conflict', message, { details: { reason } });
}

/** The link's phone has not polled yet, so a test would reach another phone or none. */
export const notPolledError = () =>
  setupRefusal(
    'not_polled',
    'The iPhone has not asked for messages yet. Run the shortcut Ownline Outbox first.',
  );
