import { createHash } from 'node:crypto';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export async function countSetupLinks({ query }: Service): Promise<number> {
  return (await query('SELECT FROM setup_links')).length;
}

/** Counts devices that were claimed with a setup link. */
export async function countDevices({ query }: Service, setupUrl: string): Promise<number> {
  const hash = createHash('sha256')
    .update(setupUrl.split('/').at(-1) ?? '')
    .digest();
  const rows = await query(
    'SELECT FROM devices d JOIN setup_links l ON l.id = d.setup_link_id WHERE l.token_hash = $1',
    [hash],
  );
  return rows.length;
}
