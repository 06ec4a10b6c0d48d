import { messageSteps } from '#server/messages/message-status.ts';
import { deliverySteps } from '#server/webhooks/queue/delivery-status.ts';

interface Step {
  readonly from: string | readonly string[];
  readonly to: string;
  readonly when: string;
}

/** The first statuses of a message or delivery, each with the event that leads to it. */
type Beginnings = Readonly<Record<string, string>>;

const introduction = `# States

Written by \`npm run docs\` from the state tables in the code. Each arrow is an action; nothing else changes a status.
`;

/** The text of docs/states.md: the life of a message and of a delivery. */
export function statesDocument(): string {
  return [
    introduction,
    chapter('Messages', 'Specification section 3.1, `server/messages/message-status.ts`.', messageSteps, {
      queued: 'a send was accepted',
      received: 'a phone passed it on',
    }),
    chapter(
      'Deliveries',
      'Specification section 6.3, `server/webhooks/queue/delivery-status.ts`.',
      deliverySteps,
      {
        pending: 'an event matches an active webhook, or a test was requested',
        skipped: 'an event matches a webhook that is off',
      },
    ),
  ].join('\n');
}

function chapter(
  title: string,
  source: string,
  steps: Readonly<Record<string, Step>>,
  beginnings: Beginnings,
): string {
  const arrows = Object.entries(steps).flatMap(([action, { from, to, when }]) =>
    [from].flat().map((one) => ({ action, from: one, to, when })),
  );
  const begins = Object.entries(beginnings);
  const ends = [...new Set([...arrows.map(({ to }) => to), ...begins.map(([status]) => status)])].filter(
    (status) => !arrows.some(({ from }) => from === status),
  );
  return [
    `## ${title}`,
    '',
    source,
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...begins.map(([status]) => `  [*] --> ${status}`),
    ...arrows.map(({ action, from, to }) => `  ${from} --> ${to}: ${action}`),
    ...ends.map((status) => `  ${status} --> [*]`),
    '```',
    '',
    '| from | action | to | when |',
    '|---|---|---|---|',
    ...begins.map(([status, when]) => `| | | ${status} | ${when} |`),
    ...Object.entries(steps).map(
      ([action, { from, to, when }]) => `| ${[from].flat().join(', ')} | \`${action}\` | ${to} | ${when} |`,
    ),
    '',
  ].join('\n');
}
