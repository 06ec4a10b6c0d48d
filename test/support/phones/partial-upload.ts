import { connect, type Socket } from 'node:net';
import { inboundBodyMaxBytes } from '#server/device-protocol/limits.ts';

const largeBody = Buffer.from(
  `{"from":"+12125550100","text":"`.padEnd(inboundBodyMaxBytes - 2, 'x').concat('"}'),
);

/** The request line and headers of a device call, as bytes for a raw connection. */
export const deviceCallHead = (path: string, token: string, bytes: number) =>
  `POST /v1/device/${path} HTTP/1.1\r\nHost: a\r\nx-device-token: ${token}\r\nContent-Length: ${bytes}\r\n\r\n`;

export interface PartialUpload {
  readonly socket: Socket;
  /** The body of the answer; '' before it has arrived. */
  answer(): string;
  /** Writes the missing bytes. */
  finish(): void;
}

/** An inbound message of the maximum size on a connection of its own, without the last bytes of its body. */
export function startUpload(baseUrl: string, token: string, missingBytes = 1): PartialUpload {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (part) => {
    text += part.toString();
  });
  socket.on('error', () => undefined);
  socket.write(deviceCallHead('inbound', token, largeBody.length));
  socket.write(largeBody.subarray(0, largeBody.length - missingBytes));
  return {
    socket,
    answer: () => text.split('\r\n\r\n')[1] ?? '',
    finish: () => void socket.write(largeBody.subarray(largeBody.length - missingBytes)),
  };
}
