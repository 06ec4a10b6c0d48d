import { AppError } from '#server/platform/app-error.ts';
import type { EndedTokenReason } from '#server/platform/http/route.ts';

/** The refusal of a call whose device token has ended. */
export class EndedTokenError extends AppError {
  readonly reason: EndedTokenReason;

  constructor(reason: EndedTokenReason) {
    super(
      'unauthorized',
      'This device token is no longer valid. To send from this iPhone again, connect it with a new setup link.',
    );
    this.reason = reason;
  }
}
