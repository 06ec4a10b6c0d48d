import type { HandOut } from '#server/messages/claim-statement.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { PollResult } from './poll.ts';

/** The answer when a poll can't be handled. It has neither action nor session: the shortcut repeats its poll. */
export const unavailableAnswer = { ok: '0', reason: 'unavailable', wait: '15' } as const;

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
      return { action: 'idle', session: publicId('ses', result.sessionId), wait: '0' };
    case 'stop':
      return { action: 'stop', session: 'none', reason: result.reason };
    case 'unavailable':
      return unavailableAnswer;
  }
}

/** The path from which the phone fetches a message's file (specification section 11.8). */
function mediaPath({ message_id, media_name }: HandOut): string {
  return media_name === null ? 'none' : `/v1/device/media/${publicId('msg', message_id)}/${media_name}`;
}
