import {
  exampleTime as at,
  exampleServer,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import { conflictExample, type Examples, planLimitExample, success } from '#server/http/example.ts';

const own = { params: { id: ids.number } };

const setupLink = {
  message: `Open setup_url within 24 hours on the iPhone that has ${number}, and follow the steps there.`,
  setup_url: `${exampleServer}/setup/K7jvXwqK3nV2m8sT0dYb4AK7jvXwqK3nV2m8sT0dYb4`,
};

const pending = {
  id: ids.number,
  phone_number: number,
  label: '',
  status: 'active',
  verified: false,
  device_name: '',
  last_seen_at: null,
  messages_today: 0,
  created_at: at('09:00:00'),
};
const connected = {
  ...pending,
  label: 'Support',
  verified: true,
  device_name: 'Test iPhone',
  last_seen_at: at('09:05:00'),
};

const settings = {
  on_unconfirmed: 'fail',
  pacing: {
    mode: 'gentle',
    gap_min_seconds: 2,
    gap_max_seconds: 5,
    messages_per_hour: 40,
    messages_per_day: 300,
    new_contacts_per_hour: 15,
    new_contacts_per_day: 50,
    unanswered_per_contact: 5,
    set_by_number: ['messages_per_hour'],
  },
  pacing_warnings: [],
  inbound_coverage: 'unknown',
};

export const listNumbersExamples: Examples = {
  connected: success('A team with one iPhone', { numbers: [connected] }),
  none: success('A team without a number', { numbers: [] }),
};

const online = {
  state: 'online',
  since: at('09:01:00'),
  last_seen_at: at('09:05:00'),
  cause: null,
  advice: '',
};
const unopened = {
  state: 'pending',
  since: at('09:00:00'),
  last_seen_at: null,
  cause: 'setup_link_unopened',
  advice:
    'Its setup link has not been opened on the iPhone yet. Open the setup link on the iPhone, and follow its page.',
};

export const getNumberExamples: Examples = {
  online: success(
    'The iPhone polls',
    { ...connected, ...settings, health: online, device_change: null },
    own,
  ),
  pending: success(
    'The setup link has not been opened yet',
    {
      ...pending,
      ...settings,
      pacing: { ...settings.pacing, messages_per_hour: 100, set_by_number: [] },
      health: unopened,
      device_change: null,
    },
    own,
  ),
};

export const verifyNumberExamples: Examples = {
  link: success('A link that connects the iPhone', setupLink, { body: { phone_number: number } }),
  plan_limit: planLimitExample(
    'The plan allows no further number',
    'The plan free allows 1 number, pending ones included. Delete one',
    { body: { phone_number: '+14155550102' } },
    { limit: 1 },
  ),
  connected: conflictExample(
    'The number is connected already',
    `${number} is connected already. If it is yours, use POST /v1/numbers/:id/reconnect; if another team holds it, the operator of this server can free it with \`ownline number release\`.`,
    { body: { phone_number: number } },
    { param: 'phone_number' },
  ),
};

export const reconnectNumberExamples: Examples = {
  link: success('A link for the new iPhone', setupLink, own),
  simulated: conflictExample(
    'The server simulates the iPhone of this number',
    '+14155550123 is simulated, and no iPhone can have it. Connect the number of an iPhone with POST /v1/numbers/verify.',
    { params: { id: ids.simulated } },
  ),
};

const updated = { id: ids.number, phone_number: number, label: 'Support', status: 'active', verified: true };

export const updateNumberExamples: Examples = {
  label: success('A label', updated, { ...own, body: { label: 'Support' } }),
  pause: success(
    'Pause the number',
    { ...updated, status: 'paused' },
    { ...own, body: { status: 'paused' } },
  ),
  pacing: success('Limit the messages of an hour', updated, {
    ...own,
    body: { pacing: { messages_per_hour: 40 } },
  }),
};

export const deleteNumberExamples: Examples = {
  deleted: success('The number is deleted', { deleted: true }, own),
};
