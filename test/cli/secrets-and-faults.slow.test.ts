import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';

const commands = new CommandLine('/nonexistent');
const simulate = ['phone', 'simulate'];

describe('secrets of commands', () => {
  it('phone simulate reads its setup link from an option, the environment or standard input', async () => {
    const ways = [
      await commands.run([...simulate, '--setup-url', 'nowhere']),
      await commands.run(simulate, { OWNLINE_SETUP_URL: 'nowhere' }),
      await commands.run([...simulate, '--setup-url', '-'], {}, 'nowhere\n'),
    ];
    for (const { code, errors } of ways) {
      assert.equal(code, 1);
      assert.match(errors, /^"nowhere" is not a setup link/);
    }
    const { errors } = await commands.run(simulate);
    assert.match(errors, /required option '--setup-url <url>'/);
  });

  it('webhook listen reads the webhook’s secret from the environment or standard input', async () => {
    const ways: [string[], Record<string, string>, string][] = [
      [[], { OWNLINE_WEBHOOK_SECRET: 'whsec_c2VjcmV0,whsec_bmV4dA' }, ''],
      [['--secret', '-'], {}, 'whsec_c2VjcmV0\n'],
    ];
    for (const [words, settings, input] of ways) {
      const port = await freePort();
      const listening = commands.run(
        ['webhook', 'listen', '--port', String(port), '--count', '1', '--json', ...words],
        settings,
        input,
      );
      const answer = await until('it listens', () =>
        fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => undefined),
      );
      assert.equal(answer.status, 401, 'without a secret it would check no signature, and answer 200');
      const { output, errors } = await listening;
      assert.match(output, /"service_signature":"missing"/, errors);
    }
  });
});

describe('phone simulate names the reason why it can’t connect', () => {
  const fault = async (url: string) =>
    (await commands.run([...simulate, '--setup-url', `${url}/setup/x`])).errors;

  it('phone simulate names an untrusted certificate, a port without TLS and a port without a listener', async () => {
    const secure = createSecureServer(makeCertificate());
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const plain = createServer();
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const portOf = (server: typeof plain | typeof secure) => (server.address() as AddressInfo).port;
    const https = `https://127.0.0.1:${portOf(secure)}`;
    assert.match(
      await fault(https),
      new RegExp(
        `^There was no answer from ${https}: its certificate is self-signed .*An iPhone refuses it, too`,
      ),
    );
    assert.match(await fault(`https://127.0.0.1:${portOf(plain)}`), /does not speak TLS as expected/);
    assert.match(
      await fault(`http://127.0.0.1:${await freePort()}`),
      /nothing listens there \(ECONNREFUSED\)/,
    );
    for (const server of [secure, plain]) server.close();
  });
});
