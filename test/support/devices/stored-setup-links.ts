import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export async function countSetupLinks({ query }: Service): Promise<number> {
  return (await query('SELECT FROM setup_links')).length;
}
