import { Deleted } from '#contract/deleted.ts';
import { ListOptOutsQuery, OptOut, OptOutList } from '#contract/opt-out.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { createOptOut, type OnOptedOut } from './create-opt-out.ts';
import { deleteOptOut } from './delete-opt-out.ts';
import { listOptOuts } from './list-opt-outs.ts';
import { optOutView } from './opt-out-view.ts';

export function optOutRoutes(services: Runtime & { readonly onOptedOut: readonly OnOptedOut[] }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/opt-outs',
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'listOptOuts',
        tag: 'Opt-outs',
        summary: 'List opt-outs',
        description: 'The contacts that are opted out of the team, the latest first, in pages.',
        errorStatuses: [],
      },
      query: ListOptOutsQuery,
      answers: { 200: OptOutList },
      handle: async ({ principal, query }) => ({
        body: await listOptOuts(services, principal.teamId, query),
      }),
    }),
    route({
      method: 'PUT',
      path: '/v1/opt-outs/:contact',
      audience: 'api',
      permission: 'messages:send',
      audit: 'contact.opted_out',
      text: {
        operationId: 'createOptOut',
        tag: 'Opt-outs',
        summary: 'Opt a contact out',
        description:
          'For contacts who say in other words than STOP that they want no more messages. Sends to the contact are refused from now on, by every number of the team, and its queued messages fail with `opted_out`. `contact` is percent-encoded: `%2B14155550101`. A contact that is opted out already stays as it is.',
        errorStatuses: [],
      },
      answers: { 200: OptOut },
      handle: async ({ principal, params, by }) => ({
        body: optOutView(await createOptOut(services, principal.teamId, params.contact ?? '', by)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/opt-outs/:contact',
      audience: 'api',
      permission: 'messages:send',
      audit: 'contact.opted_in',
      text: {
        operationId: 'deleteOptOut',
        tag: 'Opt-outs',
        summary: 'Opt a contact in',
        description:
          'Only with the contact’s consent. Sends to the contact are accepted again; what failed with `opted_out` stays failed.',
        errorStatuses: [404],
      },
      answers: { 200: Deleted },
      handle: async ({ principal, params, by }) => {
        await deleteOptOut(services, principal.teamId, params.contact ?? '', by);
        return { body: { deleted: true } };
      },
    }),
  ];
}
