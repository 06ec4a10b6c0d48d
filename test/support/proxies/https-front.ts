import { createHash, X509Certificate } from 'node:crypto';
import { request as forward } from 'node:http';
import { createServer } from 'node:https';
import { Agent, fetch as fetchWith } from 'undici';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';
import { closeServer, listenLocally } from './listen-locally.ts';

/** Starts an https server in front of the service, with a public-looking host name and a test certificate. */
export async function startHttpsFront() {
  const host = 'texts.example.com';
  const certificate = makeCertificate([host]);
  let target = '';
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const call = forward(`${target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    call.on('error', () => outgoing.destroy());
    outgoing.on('close', () => call.destroy());
    incoming.pipe(call);
  });
  const port = await listenLocally(server);
  const agent = new Agent({
    connect: {
      ca: certificate.cert,
      lookup: (_, { all }, found) =>
        all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4),
    },
  });
  return {
    /** URL for BASE_URL: `https://texts.example.com:<port>`. */
    url: `https://${host}:${port}`,
    host,
    /** SHA-256 of the public key, as base64, for a browser that has to trust the certificate. */
    publicKeyHash: publicKeyHashOf(certificate.cert),
    /** A fetch that resolves the name to this machine and trusts the certificate. */
    fetch: ((address: string, init: object) =>
      fetchWith(address, { ...init, dispatcher: agent })) as unknown as typeof fetch,
    /** Changes the service to which requests go. */
    setTarget: (url: string) => {
      target = url;
    },
    close: async () => {
      await agent.destroy();
      await closeServer(server);
    },
  };
}

function publicKeyHashOf(cert: string): string {
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}
