import { Deleted } from '#contract/deleted.ts';
import {
  NumberDetail,
  NumberList,
  NumberResource,
  SetupLink,
  SimulateNumberRequest,
  UpdatedNumber,
  UpdateNumberRequest,
  VerifyNumberRequest,
} from '#contract/number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { deleteNumber, updateNumber } from './change-number.ts';
import { reconnectNumber, startNumberVerification } from './connect-number.ts';
import { createSimulatedNumber } from './create-simulated-number.ts';
import { findListedNumber, firstIdOfDay, listNumberFacts, listNumbers } from './number-store.ts';
import { numberDetailView, numberView, updatedNumberView } from './number-view.ts';
import { listPacingWarnings, pacingView } from './pacing.ts';
import {
  deleteNumberExamples,
  getNumberExamples,
  listNumbersExamples,
  reconnectNumberExamples,
  updateNumberExamples,
  verifyNumberExamples,
} from './route-examples.ts';

/** The fields of every operation that changes one number. */
const changesNumber = { ids: { id: 'num' }, audience: 'api', permission: 'numbers:write' } as const;

export function numberRoutes(services: Runtime): Route[] {
  const today = () => ({ todayFirstId: firstIdOfDay(services.clock) });
  return [
    route('GET /v1/numbers', {
      audience: 'api',
      permission: 'numbers:read',
      text: {
        operationId: 'listNumbers',
        tag: 'Numbers',
        summary: 'List numbers',
        description:
          'Lists all numbers of the team, oldest first. Numbers whose iPhone is not connected yet are included.',
        examples: listNumbersExamples,
      },
      answers: { 200: NumberList },
      handle: async ({ principal }) => {
        const numbers = await listNumbers(services.database.pool, { teamId: principal.teamId, ...today() });
        return { body: { numbers: numbers.map(numberView) } };
      },
    }),
    route('GET /v1/numbers/:id', {
      ids: { id: 'num' },
      audience: 'api',
      permission: 'numbers:read',
      text: {
        operationId: 'getNumber',
        tag: 'Numbers',
        summary: 'Get a number',
        description:
          'Returns a number with its settings. `health` says whether its iPhone asks for messages.',
        examples: getNumberExamples,
      },
      answers: { 200: NumberDetail },
      handle: async ({ principal, ids: { id } }) => {
        const { database, clock, config } = services;
        const now = clock.now();
        const { teamId } = principal;
        const number = await findListedNumber(database.pool, { teamId, numberId: id, ...today() });
        const asked = { teamId, now, waitingMax: 0, numberIds: [id] };
        const [facts] = await listNumberFacts(database.pool, asked);
        if (!number || !facts) throw notFound('number');
        const pacing = pacingView(config.pacing, number.pacing);
        const warnings = await listPacingWarnings(database.pool, id, pacing, now);
        return { body: numberDetailView(number, facts, pacing, warnings, now) };
      },
    }),
    route('POST /v1/numbers/verify', {
      audience: 'api',
      permission: 'numbers:write',
      audit: 'number.connected',
      text: {
        operationId: 'verifyNumber',
        tag: 'Numbers',
        summary: 'Connect a number',
        description:
          'Creates the number, and a link to open on its iPhone. The number is verified when the iPhone asks for messages for the first time. While it is not, the same request returns a new link and ends the old one.',
        examples: verifyNumberExamples,
      },
      body: VerifyNumberRequest,
      answers: { 200: SetupLink },
      handle: async ({ principal, body, by }) => {
        const setupUrl = await startNumberVerification(services, principal.teamId, body.phone_number, by);
        return { body: { message: openOnPhone(body.phone_number), setup_url: setupUrl } };
      },
    }),
    route('POST /v1/numbers/:id/reconnect', {
      ...changesNumber,
      audit: 'number.reconnected',
      text: {
        operationId: 'reconnectNumber',
        tag: 'Numbers',
        summary: 'Connect another iPhone',
        description:
          'Returns a link for a new or wiped iPhone that has the same number. The number keeps its id, its queue and its messages. The old iPhone works until the new one asks for messages.',
        examples: reconnectNumberExamples,
      },
      answers: { 200: SetupLink },
      handle: async ({ principal, ids, by }) => {
        const { setupUrl, phoneNumber } = await reconnectNumber(services, principal.teamId, ids.id, by);
        return { body: { message: openOnPhone(phoneNumber), setup_url: setupUrl } };
      },
    }),
    route('POST /app/teams/:team_id/numbers/simulated', {
      audience: 'team',
      permission: 'numbers:write',
      audit: 'number.connected',
      body: SimulateNumberRequest,
      answers: { 201: NumberResource },
      handle: async ({ principal, body, by }) => {
        const { teamId } = principal;
        const numberId = await createSimulatedNumber(services, teamId, body.phone_number, by);
        const number = await findListedNumber(services.database.pool, { teamId, numberId, ...today() });
        if (!number) throw notFound('number');
        return { status: 201, body: numberView(number) };
      },
    }),
    route('PUT /v1/numbers/:id', {
      ...changesNumber,
      audit: 'number.changed',
      text: {
        operationId: 'updateNumber',
        tag: 'Numbers',
        summary: 'Change a number',
        description:
          'Changes the fields that are sent; `{}` changes nothing. Once a pause is answered, the iPhone gets no more messages to send. Messages that the iPhone receives are still stored.',
        examples: updateNumberExamples,
      },
      body: UpdateNumberRequest,
      answers: { 200: UpdatedNumber },
      handle: async ({ principal, ids, body, by }) => {
        const number = await updateNumber(services, principal.teamId, ids.id, body, by);
        return { body: updatedNumberView(number) };
      },
    }),
    route('DELETE /v1/numbers/:id', {
      ...changesNumber,
      audit: 'number.deleted',
      text: {
        operationId: 'deleteNumber',
        tag: 'Numbers',
        summary: 'Delete a number',
        description:
          'Deletes the number. Messages that wait for its iPhone fail with `number_removed`, and the iPhone stops asking for messages.',
        examples: deleteNumberExamples,
      },
      answers: { 200: Deleted },
      handle: async ({ principal, ids, by }) => {
        await deleteNumber(services, principal.teamId, ids.id, by);
        return { body: { deleted: true } };
      },
    }),
  ];
}

function openOnPhone(phoneNumber: string): string {
  return `Open setup_url within 24 hours on the iPhone that has ${phoneNumber}, and follow the steps there.`;
}
