import { openAccounts } from '#server/accounts/slice.ts';
import { openApiKeys } from '#server/api-keys/slice.ts';
import { apiReferenceRoutes } from '#server/api-reference/api-reference-routes.ts';
import { openAudit } from '#server/audit/slice.ts';
import { openBackups } from '#server/backups/slice.ts';
import { openContacts } from '#server/contacts/slice.ts';
import { forMembers } from '#server/dashboard/routes.ts';
import { openDashboard } from '#server/dashboard/slice.ts';
import type { ProcessServices, Slice } from '#server/database/slice.ts';
import { openDeviceProtocol } from '#server/device-protocol/slice.ts';
import { openDevices } from '#server/devices/slice.ts';
import { openErasure } from '#server/erasure/slice.ts';
import { openEvents } from '#server/events/slice.ts';
import type { Route } from '#server/http/route.ts';
import { openMail } from '#server/mail/slice.ts';
import { openMedia } from '#server/media/slice.ts';
import { openMessages } from '#server/messages/slice.ts';
import { openNumbers } from '#server/numbers/slice.ts';
import { openOperations } from '#server/operations/slice.ts';
import { openOptOuts } from '#server/opt-outs/slice.ts';
import type { Config } from '#server/platform/config.ts';
import { openSetup } from '#server/setup/slice.ts';
import { openTeams } from '#server/teams/slice.ts';
import { openUsage } from '#server/usage/slice.ts';
import { openWebhooks } from '#server/webhooks/slice.ts';

/**
 * Opens the slices. A slice may return parts that other slices need, such as `changes`. The order of the list is the
 * order of the API reference.
 */
export function openSlices(services: ProcessServices) {
  const audit = openAudit(services);
  const mail = openMail(services);
  const accounts = openAccounts({ ...services, refusals: audit.refusals });
  const apiKeys = openApiKeys(services);
  const messages = openMessages(services);
  const [{ mailHealth }, { requireSession }, { sends }] = [mail, accounts, messages];
  const dashboard = openDashboard({ ...services, requireSession });
  const { changes } = dashboard;
  const slices: readonly Slice[] = [
    openTeams({ ...services, mailHealth, requireSession }),
    openNumbers(services),
    openEvents(services),
    openOptOuts(services),
    openContacts(services),
    openMedia(services),
    messages,
    openWebhooks(services),
    openDeviceProtocol(services),
    openSetup({ ...services, changes, sends }),
    apiKeys,
    openUsage(services),
    audit,
    accounts,
    dashboard,
    openErasure(services),
    openDevices(services),
    mail,
    openBackups(services),
    openOperations({ ...services, mailHealth }),
  ];
  return { slices, changes, requireSession, uses: apiKeys.uses };
}

/** Lists the routes of this process. Without the process role `api` it serves only the routes for operators. */
export function listRoutes(config: Config, slices: readonly Slice[]): readonly Route[] {
  const forOperators = slices.flatMap(({ operatorRoutes = [] }) => operatorRoutes);
  if (!config.processRoles.has('api')) return forOperators;
  const own = slices.flatMap(({ routes = [] }) => routes);
  return [...forOperators, ...own, ...forMembers(own), ...apiReferenceRoutes(config, own)];
}
