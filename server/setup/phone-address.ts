import { deviceUrlOf } from '#server/devices/device-url.ts';
import type { Config } from '#server/platform/config.ts';
import { type AddressProblem, findAddressProblem } from '#server/platform/network/unreachable-links.ts';

/** The addresses that an iPhone uses: its shortcuts call `server`, and the setup page is at APP_URL. */
export interface PhoneAddress {
  readonly server: string;
  /** Why iPhones can't use one of the two everywhere, or not safely; undefined if they can. */
  readonly problem: AddressProblem | undefined;
  /** The address with the problem, and the setting to change. */
  readonly url: string;
  readonly setting: string;
}

/** Finds the addresses of a team's iPhones, and what is wrong with them (specification section 11.8). */
export function findPhoneAddress(
  config: Pick<Config, 'baseUrl' | 'appUrl' | 'deviceUrl'>,
  routingTag: string,
): PhoneAddress {
  const server = deviceUrlOf(config, routingTag);
  const setting = config.deviceUrl === config.baseUrl ? 'BASE_URL' : 'DEVICE_URL';
  const problem = findAddressProblem(server);
  const pageProblem = findAddressProblem(config.appUrl);
  if (problem === undefined && pageProblem !== undefined)
    return { server, problem: pageProblem, url: config.appUrl, setting: 'APP_URL' };
  return { server, problem, url: server, setting };
}
