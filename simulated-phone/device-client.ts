import { createHash } from 'node:crypto';
import { connectionProblem } from './connection-problem.ts';

/** Request and answer bodies of the device protocol: flat objects of strings (docs/device-protocol.md section 11). */
export type Flat = Readonly<Record<string, string>>;

export interface ClaimedDevice {
  readonly server: string;
  readonly deviceToken: string;
  readonly phoneNumber: string;
}

/**
 * Exchanges a setup link for the device token, as the setup page does.
 * @throws CommandError with a message for the person who pasted the link
 */
export async function claimDevice(setupUrl: string): Promise<ClaimedDevice> {
  const url = URL.canParse(setupUrl) ? new URL(setupUrl) : undefined;
  const token = url?.pathname.split('/setup/')[1];
  if (!url || !token) {
    throw new CommandError(
      `"${setupUrl}" is not a setup link; one looks like https://texts.example.com/setup/….`,
    );
  }
  const answer = await post(
    `${setupUrl.slice(0, setupUrl.indexOf('/setup/'))}/v1/device/claim`,
    { token },
    {},
  ).catch((error: unknown) => {
    throw new CommandError(`There was no answer from ${url.origin}: ${connectionProblem(error)}`);
  });
  if (answer.device_token === undefined) {
    throw new CommandError(
      'The server refused this setup link: it was used, has expired, or belongs to another server. Create a new one with POST /v1/numbers/:id/reconnect.',
    );
  }
  return {
    server: answer.server ?? url.origin,
    deviceToken: answer.device_token,
    phoneNumber: answer.phone_number ?? '',
  };
}

/** A mistake of the person at the terminal. It is printed without a stack trace. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

/**
 * The calls of one device. Like a shortcut it ignores the HTTP status. The promise rejects if the connection is lost.
 */
export class DeviceClient {
  readonly server: string;
  readonly #headers: Flat;

  constructor(server: string, deviceToken: string) {
    this.server = server;
    this.#headers = { 'x-device-token': deviceToken };
  }

  poll(body: Flat, signal?: AbortSignal): Promise<Flat> {
    return post(`${this.server}/v1/device/poll`, body, this.#headers, signal);
  }

  inbound(body: Flat): Promise<Flat> {
    return post(`${this.server}/v1/device/inbound`, body, this.#headers);
  }

  status(body: Flat): Promise<Flat> {
    return post(`${this.server}/v1/device/status`, body, this.#headers);
  }

  /** Downloads the file of a message. Rejects if the connection ends early. */
  async media(path: string): Promise<FetchedMedia> {
    const response = await fetch(`${this.server}${path}`, { headers: this.#headers });
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of response.body ?? []) {
      hash.update(piece);
      bytes += piece.length;
    }
    const type = response.headers.get('content-type') ?? '';
    return { name: path.split('/').at(-1) ?? '', type, bytes, sha256: hash.digest('hex') };
  }
}

/** A downloaded file without its bytes. */
export interface FetchedMedia {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  readonly sha256: string;
}

async function post(url: string, body: Flat, headers: Flat, signal?: AbortSignal): Promise<Flat> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  return readFlat(response);
}

/**
 * Reads the string fields of an answer. An answer that is no JSON object, such as the HTML page of a proxy, has none.
 */
export async function readFlat(response: Response): Promise<Flat> {
  const text = await response.text();
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return {};
    return Object.fromEntries(Object.entries(parsed).filter(([, value]) => typeof value === 'string'));
  } catch {
    return {};
  }
}
