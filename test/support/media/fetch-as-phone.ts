import type { DeviceWire } from '#test/support/phones/test-phone.ts';

/** A file as a phone received it. */
export interface FetchedFile {
  readonly status: number;
  readonly type: string | null;
  readonly length: number;
  readonly bytes: Buffer;
}

/** Sends GET with the device's token. @returns undefined if the connection ended without an answer */
export async function fetchAsPhone(
  { baseUrl, token }: Pick<DeviceWire, 'baseUrl' | 'token'>,
  path: string,
): Promise<FetchedFile | undefined> {
  const response = await fetch(`${baseUrl}${path}`, {
    headers: { 'x-device-token': token },
    redirect: 'manual',
  }).catch(() => undefined);
  if (!response) return undefined;
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    length: Number(response.headers.get('content-length')),
    bytes,
  };
}
