import { type Check, failed, warning } from './check.ts';
import { leadsToThisMachine, type NotAnswered } from './public-client.ts';

/** The check of a failed connection: a warning if the host name resolves to another machine, otherwise a failure. */
export async function explainUnanswered(name: string, url: string, { code }: NotAnswered): Promise<Check> {
  const { host } = new URL(url);
  const isOwn = await leadsToThisMachine(url);
  if (isOwn === undefined) {
    return failed(
      name,
      `The name of ${host} has no address (${code}).`,
      'Correct BASE_URL, or create the DNS entry.',
    );
  }
  if (isOwn) {
    return failed(
      name,
      `Nothing on this machine answers at ${host} (${code}).`,
      'Start the proxy and Ownline, and let both listen at the address that BASE_URL names.',
    );
  }
  return warning(
    name,
    `This machine does not reach ${host} (${code}). That is normal behind a router without hairpin NAT.`,
    `Open ${url}/healthz with a phone on mobile data. --url checks another address, such as that of the proxy in the local network.`,
  );
}
