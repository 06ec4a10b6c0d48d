import { connect, type Socket } from 'node:net';
import type { DeviceWire } from '#test/support/phones/test-phone.ts';

type Caller = Pick<DeviceWire, 'baseUrl' | 'token'>;

function open({ baseUrl, token }: Caller, path: string): Socket {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nx-device-token: ${token}\r\n\r\n`);
  return socket;
}

/** All bytes of the answer until the connection ends. */
export function rawRequest(caller: Caller, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = '';
    const socket = open(caller, path);
    socket.setTimeout(10_000, () => {
      socket.destroy();
      reject(new Error(`the connection was kept after: ${read.slice(0, 200)}`));
    });
    socket.on('data', (piece) => {
      read += piece.toString('latin1');
    });
    socket.on('close', () => resolve(read));
  });
}

/** A download that stops reading after the first bytes. */
export function slowDownload(caller: Caller, path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = open(caller, path);
    socket.once('data', () => {
      socket.pause();
      resolve(socket);
    });
    socket.once('close', () => reject(new Error('the connection ended')));
  });
}

/** Sends GET with the device's token. @returns undefined if the connection ended without an answer */
export async function fetchAsPhone({ baseUrl, token }: Caller, path: string) {
  const headers = { 'x-device-token': token };
  const response = await fetch(`${baseUrl}${path}`, { headers, redirect: 'manual' }).catch(() => undefined);
  if (!response) return undefined;
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    length: Number(response.headers.get('content-length')),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}
