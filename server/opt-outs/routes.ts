import { Deleted } from '#contract/deleted.ts';
import { ListOptOutsQuery, OptOut, OptOutList } from '#contract/opt-out.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { readPage } from '#server/platform/paging.ts';
import { createOptOut, deleteOptOut } from './change-opt-out.ts';
import { listOptOutRows, optOutView } from './opt-out-store.ts';
import { createOptOutExamples, deleteOptOutExamples, listOptOutsExamples } from './route-examples.ts';

export function optOutRoutes(services: Runtime): Route[] {
  return [
    route('GET /v1/opt-outs', {
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'listOptOuts',
        tag: 'Opt-outs',
        summary: 'List opt-outs',
        description:
          'Lists the contacts that opted out of the team, the latest first. Pages work as those of messages.',
        examples: listOptOutsExamples,
      },
      query: ListOptOutsQuery,
      answers: { 200: OptOutList },
      handle: async ({ principal: { teamId }, query }) => {
        const { rows, ...page } = await readPage('opt', query, (before, limit) =>
          listOptOutRows(services.database.pages, { teamId, before, limit }),
        );
        return { body: { opt_outs: rows.map(optOutView), ...page } };
      },
    }),
    route('PUT /v1/opt-outs/:contact', {
      audience: 'api',
      permission: 'messages:send',
      audit: 'contact.opted_out',
      text: {
        operationId: 'createOptOut',
        tag: 'Opt-outs',
        summary: 'Opt a contact out',
        description:
          'For a contact who asks in other words than STOP for no more messages. From now on each send to the contact is refused, from every number of the team. Queued messages to the contact fail with `opted_out`.\n\nPercent-encode the contact: `%2B14155550101`. An earlier opt-out of the contact stays as it is.',
        examples: createOptOutExamples,
      },
      answers: { 200: OptOut },
      handle: async ({ principal, params, by }) => ({
        body: optOutView(await createOptOut(services, principal, params.contact ?? '', by)),
      }),
    }),
    route('DELETE /v1/opt-outs/:contact', {
      audience: 'api',
      permission: 'messages:send',
      audit: 'contact.opted_in',
      text: {
        operationId: 'deleteOptOut',
        tag: 'Opt-outs',
        summary: 'Opt a contact in',
        description:
          'For a contact who consents to messages again. Sends to the contact are accepted from now on. Messages that failed with `opted_out` stay failed.',
        examples: deleteOptOutExamples,
      },
      answers: { 200: Deleted },
      handle: async ({ principal, params, by }) => {
        await deleteOptOut(services, principal.teamId, params.contact ?? '', by);
        return { body: { deleted: true } };
      },
    }),
  ];
}
