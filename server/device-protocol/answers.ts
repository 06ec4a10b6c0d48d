import { randomInt } from 'node:crypto';
import { Type } from 'typebox';
import { EndedTokenError } from '#server/devices/device-authenticator.ts';
import type { HandOut } from '#server/messages/claim-statement.ts';
import type { AppError } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids.ts';
import { unavailableWaitSeconds } from './limits.ts';
import type { PollResult } from './poll.ts';

/** The schema of every answer: a shortcut reads fields that are texts. */
export const flatStrings = Type.Record(Type.String(), Type.String());

/** The answer when a poll can't be handled. It has neither action nor session: the shortcut repeats its poll. */
export function unavailableAnswer() {
  const { min, max } = unavailableWaitSeconds;
  return { ok: '0', reason: 'unavailable', wait: String(randomInt(min, max + 1)) };
}

/** The answer to a poll: always HTTP 200, flat, strings only (specification section 11.4). */
export function pollAnswer(result: PollResult): Readonly<Record<string, string>> {
  switch (result.kind) {
    case 'send':
      return {
        action: 'send',
        session: publicId('ses', result.claimant.sessionId),
        id: publicId('msg', result.handOut.message_id),
        to: result.handOut.to_handle,
        text: result.handOut.content,
        media: mediaPath(result.handOut),
        wait: '0',
      };
    case 'idle':
      return { action: 'idle', session: publicId('ses', result.sessionId), wait: String(result.waitSeconds) };
    case 'stop':
      return { action: 'stop', session: 'none', reason: result.reason };
    case 'unavailable':
      return unavailableAnswer();
  }
}

/** The path from which the phone fetches a message's file (specification section 11.10). */
function mediaPath({ message_id, media_name }: HandOut): string {
  return media_name === null ? 'none' : `/v1/device/media/${publicId('msg', message_id)}/${media_name}`;
}

/** The refusal of an inbound message or status report: HTTP 200, because a shortcut can't read the HTTP status. */
export const refuse = (reason: string) => ({ body: { ok: '0', reason } });

/** Answers an inbound message or status that could not be handled, with the reason. */
export function answerFailure(error: AppError): unknown {
  const { code, status } = error;
  if (error instanceof EndedTokenError) return refuse(error.reason).body;
  if (code === 'unauthorized' || code === 'rate_limited') return refuse(code).body;
  return refuse(status === 413 ? 'too_large' : 'unavailable').body;
}
