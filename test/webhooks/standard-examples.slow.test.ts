import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deliveryHeaders } from '#server/webhooks/dispatch/attempt-delivery.ts';
import { newWebhookSecret } from '#server/webhooks/endpoints/webhook-secret.ts';
import { isInstalled } from '#test/support/processes/is-installed.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { given, givenFolder } from '#test/support/service/given.ts';

type Headers = Readonly<Record<string, string>>;

/** A program of docs/webhooks.md, and a program that calls its function with a JSON object from standard input. */
interface Example {
  readonly file: string;
  readonly block: string;
  readonly program: readonly [name: string, ...versionArgs: string[]];
  readonly caller: readonly [file: string, source: string];
  readonly command: readonly [string, ...string[]];
}

const examples: readonly Example[] = [
  {
    file: 'standard.mjs',
    block: 'js standard.mjs',
    program: [process.execPath, '--version'],
    caller: [
      'call.mjs',
      `import { readFileSync } from 'node:fs';
import { isFromOwnline } from './standard.mjs';
const { body, headers, secret } = JSON.parse(readFileSync(0, 'utf8'));
console.log(isFromOwnline(Buffer.from(body), headers, secret));`,
    ],
    command: [process.execPath, 'call.mjs'],
  },
  {
    file: 'standard.py',
    block: 'python standard.py',
    program: ['python3', '--version'],
    caller: [
      'call.py',
      `import json, sys
from standard import is_from_ownline
call = json.load(sys.stdin)
print(str(is_from_ownline(call["body"].encode(), call["headers"], call["secret"])).lower())`,
    ],
    command: ['python3', 'call.py'],
  },
  {
    file: 'standard.go',
    block: 'go standard.go',
    program: ['go', 'version'],
    caller: [
      'call.go',
      `package main
import ("encoding/json"; "fmt"; "net/http"; "os")
func main() {
	var call struct { Body, Secret string; Headers map[string]string }
	if err := json.NewDecoder(os.Stdin).Decode(&call); err != nil { panic(err) }
	headers := http.Header{}
	for name, value := range call.Headers { headers.Set(name, value) }
	fmt.Println(isFromOwnline([]byte(call.Body), headers, call.Secret))
}`,
    ],
    command: ['go', 'run', 'standard.go', 'call.go'],
  },
];

describe('the functions of docs/webhooks.md that verify Standard Webhooks (specification sections 6.3 and 6.4)', () => {
  const page = given(() => PageBlocks.read('docs/webhooks.md'));
  const folder = givenFolder();
  const current = newWebhookSecret();
  const next = newWebhookSecret();
  const body = '{"id":"evt_1","data":{"content":"Grüße 😀\\u2028"}}';

  /** Headers of an attempt that began so many seconds ago. */
  const headersOf = (
    secrets: { readonly current: string; readonly next: string | undefined },
    ageSeconds = 0,
  ) =>
    deliveryHeaders({
      eventId: 'evt_01h2xcejqtf2nbrexx3vqjhp41',
      eventType: 'message.sent',
      body: Buffer.from(body),
      secrets,
      startedAt: new Date(performance.timeOrigin + performance.now() - ageSeconds * 1_000),
      isTest: false,
    });

  for (const { file, block, program, caller, command } of examples)
    it(`${file} accepts deliveries, also during a rotation, and refuses forged, unsigned and old ones (§6.3/request-format, §6.4/replay-and-rotation)`, async (t) => {
      const [name, ...versionArgs] = program;
      if (!isInstalled(name, versionArgs)) return t.skip(`there is no ${name} here`);
      await writeFile(join(folder, file), page.one(block));
      await writeFile(join(folder, caller[0]), caller[1]);
      const verify = (headers: Headers, text = body, secret = current) => {
        const [runtime, ...args] = command;
        const input = JSON.stringify({ body: text, headers, secret });
        const env = { ...process.env, GOTOOLCHAIN: 'local' };
        return execFileSync(runtime, args, { cwd: folder, input, env, encoding: 'utf8' }).trim();
      };
      const signed = headersOf({ current, next: undefined });
      assert.equal(verify(signed), 'true');
      const rotating = headersOf({ current, next });
      assert.deepEqual([verify(rotating), verify(rotating, body, next)], ['true', 'true']);
      assert.equal(verify(signed, body, next), 'false', 'another secret');
      assert.equal(verify(signed, body.replace('evt_1', 'evt_2')), 'false', 'another body');
      assert.equal(verify({ ...signed, 'webhook-id': 'evt_2' }), 'false', 'another id');
      const { 'webhook-signature': _, ...unsigned } = signed;
      assert.equal(verify(unsigned), 'false', 'no signature');
      assert.equal(verify({}), 'false', 'no headers');
      assert.equal(verify(headersOf({ current, next: undefined }, 310)), 'false', 'a recorded delivery');
    });
});
