import type { FailureCode } from '#contract/message.ts';
import { parseId } from '#server/platform/ids.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { startMediaHost } from './media-host.ts';

/** A service that may fetch from this machine, a web server with files, and a team with a phone. */
export type MediaWorld = Awaited<ReturnType<typeof startMediaWorld>>;

/** Default recipient. */
export const mediaRecipient = '+14155550101';

export async function startMediaWorld(settings: Readonly<Record<string, string>> = {}) {
  const host = await startMediaHost();
  const service = await startTestService({ EGRESS_ALLOW_CIDRS: '127.0.0.1', ...settings });
  const team = await service.newTeam();
  const number = await connectNumber(service, team);
  const get = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  const settled = (id: string) =>
    until('the media are fetched, or given up', async () => {
      const message = await get(id);
      return field(message, 'status') === 'failed' || !(await isWaiting(service, id)) ? message : undefined;
    });
  return {
    service,
    team,
    number,
    host,
    get,
    /** Waits until the message's media is fetched or has failed. @returns the message */
    settled,
    /** Sends a message with the file at a path of the web server, or at a URL. @returns its id */
    send: async (
      path: string,
      {
        to = mediaRecipient,
        from = number.phoneNumber,
      }: { readonly to?: string; readonly from?: string } = {},
    ) => {
      const media_url = path.startsWith('/') ? host.url(path) : path;
      const body = { from, to, content: 'Look', media_url };
      const answer = await team.api.post('/v1/messages/send', body);
      if (answer.status !== 202) throw new Error(`the send was answered ${answer.status}: ${answer.text}`);
      return String(answer.json.id);
    },
    /** Waits for the failure of a message. @returns its code and message */
    failure: async (id: string) => {
      const message = await until('the message failed', async () => {
        const now = await get(id);
        return field(now, 'status') === 'failed' ? now : undefined;
      });
      return {
        code: field(message, 'error_code') as FailureCode,
        text: String(field(message, 'error_message')),
      };
    },
    close: async () => {
      await service.close();
      await host.close();
    },
  };
}

async function isWaiting(service: TestService, id: string): Promise<boolean> {
  const [row] = await service.query<{ waiting: boolean }>(
    'SELECT EXISTS (SELECT FROM media_fetches WHERE message_id = $1) AS waiting',
    [parseId('msg', id)],
  );
  return row?.waiting ?? false;
}
