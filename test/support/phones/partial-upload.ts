import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileBodyMinBytes } from '#server/devices/limits.ts';

const bodies = new Map<number, Buffer>();

/** Uploads share one body per size, as tests measure the memory of their process. Larger ones than a text have a file. */
function bodyOf(bytes: number): Buffer {
  const known = bodies.get(bytes);
  if (known) return known;
  const field = bytes > fileBodyMinBytes ? '"text":"","media_type":"image/jpeg","media"' : '"text"';
  const body = Buffer.from(`{"from":"+12125550100",${field}:"`.padEnd(bytes - 2, 'x').concat('"}'));
  bodies.set(bytes, body);
  return body;
}

/** Request line and headers of a device call, for a raw connection. */
export const deviceCallHead = (path: string, token: string, bytes: number, further = '') =>
  `POST /v1/device/${path} HTTP/1.1\r\nHost: a\r\nx-device-token: ${token}\r\nContent-Length: ${bytes}\r\n${further}\r\n`;

export interface PartialUpload {
  readonly socket: Socket;
  /** Body of the answer; '' before it has arrived. */
  answer(): string;
  /** Writes the missing bytes. */
  finish(): void;
}

/**
 * Sends an inbound message without the last bytes of its body, on a new connection. By default the body has the largest
 * size without a file. Resolves once the server has read the headers. So uploads have a known order, although
 * connections are not accepted in the order in which they were opened (decision 0024).
 */
export async function startUpload(
  baseUrl: string,
  token: string,
  missingBytes = 1,
  bytes = fileBodyMinBytes,
): Promise<PartialUpload> {
  const largeBody = bodyOf(bytes);
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(deviceCallHead('inbound', token, largeBody.length, 'Expect: 100-continue\r\n'));
  const [begun] = await once(socket, 'data');
  assert.equal(String(begun), 'HTTP/1.1 100 Continue\r\n\r\n');
  let text = '';
  socket.on('data', (part) => {
    text += part.toString();
  });
  socket.on('error', () => undefined);
  socket.write(largeBody.subarray(0, largeBody.length - missingBytes));
  return {
    socket,
    answer: () => text.split('\r\n\r\n')[1] ?? '',
    finish: () => void socket.write(largeBody.subarray(largeBody.length - missingBytes)),
  };
}
