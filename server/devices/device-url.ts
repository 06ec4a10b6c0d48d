import type { Config } from '#server/platform/config.ts';

/** The address that a phone calls, with the routing tag of its team in place of `{team}` (specification section 11.1). */
export function deviceUrlOf({ deviceUrl }: Pick<Config, 'deviceUrl'>, routingTag: string): string {
  return deviceUrl.replace('{team}', routingTag);
}
