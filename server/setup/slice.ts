import type { Changes } from '#server/dashboard/changes.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import type { SendBatcher } from '#server/messages/send-message.ts';
import { LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { SetupLinkId } from '#server/platform/ids.ts';
import { progressRequestsMax } from './limits.ts';
import { sendLockTexts } from './lock-texts.ts';
import { publishedShortcutsRoutes, setupPageRoutes } from './setup-page-routes.ts';
import { setupStateRoutes } from './setup-state-routes.ts';
import { purgeTestRecipients } from './setup-store.ts';
import { ShortcutSigner } from './shortcut-signer.ts';

/** The setup page. */
export function openSetup(
  services: Runtime & { readonly changes: Changes; readonly sends: SendBatcher },
): Slice {
  const { config, database, clock } = services;
  const progressRequests = new LongPolls<SetupLinkId>(progressRequestsMax);
  const command = config.shortcutSignCommand;
  const signer = command && new ShortcutSigner(services, command);
  return {
    routes: [
      ...setupPageRoutes({ ...services, signer }),
      ...setupStateRoutes({ ...services, progressRequests, signer }),
      ...publishedShortcutsRoutes({ ...services, signer }),
    ],
    jobs: [
      sweep('api', 'send texts of lock tests', 5_000, 'keeps', () => sendLockTexts(services)),
      sweep('maintain', 'purge recipients of test texts', 60_000, 'keeps', () =>
        purgeTestRecipients(database.pool, { now: clock.now() }),
      ),
    ],
    holds: signer ? [progressRequests, signer] : [progressRequests],
  };
}
