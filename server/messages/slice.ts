import { mediaFetchesChannel } from '#server/database/channels.ts';
import { type ProcessServices, type Slice, sweep } from '#server/database/slice.ts';
import { releaseDueMessages, releaseHeld } from './held-messages.ts';
import { createMediaFetchWorker } from './media-fetch-worker.ts';
import { registerMessageMetrics, registerOutcomeMetrics } from './message-metrics.ts';
import { purgeKeysAndFingerprints, purgeRecentHandOuts } from './purge-messages.ts';
import { messageRoutes } from './routes.ts';
import { searchRoutes } from './search/routes.ts';
import { Signer } from './search/sign-segments.ts';
import { createSendBatcher, type SendBatcher } from './send-message.ts';
import {
  failExpired,
  failOptedOut,
  failOrphaned,
  resolveOverdue,
  returnedMessagesMs,
} from './sweep-messages.ts';
import { failTestMessages } from './test-messages.ts';

const second = 1_000;

/** Messages: sends, the queue with its sweeps, and the fetches of media. */
export function openMessages(services: ProcessServices) {
  const sends = createSendBatcher(services);
  registerMessageMetrics(services);
  registerOutcomeMetrics(services);
  const signer = new Signer(services);
  return {
    sends,
    routes: [...messageRoutes({ ...services, sends }), ...searchRoutes(services)],
    jobs: [
      { role: 'deliver', wokenBy: mediaFetchesChannel, worker: () => createMediaFetchWorker(services) },
      {
        ...sweep('maintain', 'sign messages for searches', second, 'keeps', () => signer.run()),
        shareMax: 0.25,
      },
      sweep('maintain', 'resolve overdue hand-outs', second, 'resolves', () => resolveOverdue(services)),
      sweep('maintain', 'release messages', second, 'keeps', async () => {
        await releaseDueMessages(services);
        // A send that began before a restore was resumed may have stored its message with the restore hold. A kill may
        // have ended the release of the others.
        await releaseHeld(services, 'restore', 'outage');
      }),
      sweep('maintain', 'fail messages of deleted numbers', second, 'keeps', () => failOrphaned(services)),
      sweep('maintain', 'fail messages to contacts that opted out', second, 'keeps', () =>
        failOptedOut(services, 60 * second),
      ),
      sweep('maintain', 'fail returned messages to contacts that opted out', 60 * second, 'keeps', () =>
        failOptedOut(services, returnedMessagesMs(services)),
      ),
      sweep('maintain', 'fail messages of test keys', second, 'keeps', () => failTestMessages(services)),
      sweep('maintain', 'expire queued messages', 5 * second, 'expires', () => failExpired(services)),
      sweep('maintain', 'purge old keys', 600 * second, 'expires', () => purgeKeysAndFingerprints(services)),
      sweep('maintain', 'purge recent hand-outs', 600 * second, 'expires', () =>
        purgeRecentHandOuts(services),
      ),
    ],
  } satisfies Slice & { sends: SendBatcher };
}
