import { Api, itemsOf } from '../api.ts';
import type { Ownline } from '../ownline.ts';
import { claimDevice, createTeam, signIn } from '../set-up.ts';

const from = '+14155550110';
const pending = '+14155550111';
const to = '+14155550150';
const invited = 'sam@example.com';

const message = {
  method: 'POST',
  path: '/v1/messages/send',
  body: { from, to, content: 'It waits for a phone that is away.' },
  headers: { 'idempotency-key': 'kept' },
} as const;

/**
 * Makes a team with one item of each kind that expires, none of them soon.
 * @returns a function that reads all items again, and names those that expired or changed
 */
export async function openKeeper(ownline: Ownline, over: AbortSignal): Promise<() => Promise<string[]>> {
  const { team, apiKey } = await createTeam(ownline, 'Keeper', '--plan', 'enterprise');
  const api = new Api(ownline.baseUrl, { 'x-api-key': apiKey }, over);
  const post = (path: string, body: unknown) => api.insist({ method: 'POST', path, body });
  // The phone polls once, which verifies its number, and never again.
  const phone = new Api(ownline.baseUrl, { 'x-device-token': await claimDevice(api, from) }, over);
  await phone.insist({ method: 'POST', path: '/v1/device/poll', body: { session: 'new', v: '1' } });
  const setup = await post('/v1/numbers/verify', { phone_number: pending });
  const sent = await api.insist(message);
  if (sent.status !== 202) throw new Error(`A send was answered ${sent.status}: ${sent.text}`);
  await post('/v1/team/members/invite', { email: invited, role: 'viewer' });
  const headers = { cookie: await signIn(ownline, team), 'sec-fetch-site': 'same-origin' };
  const statusOf = async (path: string): Promise<number> => {
    const answer = await fetch(new URL(path, ownline.baseUrl), { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  return async () => {
    const found = await api.get(`/v1/messages/${sent.json.id}`);
    const again = await api.insist(message);
    const numbers = itemsOf(await api.get('/v1/numbers'), 'numbers');
    const invitations = itemsOf(await api.get('/v1/team/invitations'), 'invitations');
    const page = await statusOf(new URL(String(setup.json.setup_url)).pathname);
    const account = await statusOf('/app/account');
    return [
      found.status === 'queued' ? [] : [`the queued message is ${found.status}`],
      again.json.id === sent.json.id ? [] : ['the Idempotency-Key is forgotten'],
      numbers.some((number) => number.phone_number === pending) ? [] : ['the pending number is gone'],
      invitations.some(({ email }) => email === invited) ? [] : ['the invitation is over'],
      page === 200 ? [] : [`the setup link is answered ${page}`],
      account === 200 ? [] : [`the session is answered ${account}`],
    ].flat();
  };
}
