import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { fileCursor, Ownline, OwnlineError, webhooks } from 'ownline-client';

// A program of a customer, which clients.slow.test.ts checks strictly and runs. program.py does the same.
const [command, ...args] = process.argv.slice(2);
const ownline = new Ownline();
const print = (value: unknown) => console.log(JSON.stringify(value));

// With SKIP_WAITS the waits of the client take no time. The last line of the output has them, in seconds.
if (process.env.SKIP_WAITS) {
  const waits: number[] = [];
  const setTimeout = async (ms: number) => {
    waits.push(ms / 1_000);
  };
  Object.assign(timers, { setTimeout });
  syncBuiltinESMExports();
  process.on('exit', () => print(waits));
}

const commands: Readonly<Record<string, () => Promise<void>>> = {
  construct: async () => {
    const [url = '', apiKey = ''] = args;
    const { numbers } = await new Ownline({ url, apiKey }).request('get', '/v1/numbers');
    print(Array.isArray(numbers));
  },
  send: async () => {
    const [from = '', to = '', content = '', idempotencyKey] = args;
    const options = idempotencyKey === undefined ? {} : { idempotencyKey };
    const accepted = await ownline.messages.send({ from, to, content }, options);
    const { status } = await ownline.messages.get(accepted.id);
    print([accepted.id, status]);
  },
  upload: async () => {
    const bytes = readFileSync(args[0] ?? '');
    for (const file of [bytes, new Blob([bytes]), new Blob([bytes]).stream()])
      print((await ownline.media.upload(file, { name: 'menu.png' })).size);
  },
  list: async () => {
    for await (const message of ownline.messages.list({ direction: 'outbound', limit: 2 }))
      print(message.content);
  },
  search: async () => {
    for await (const message of ownline.messages.search({ q: args[0] ?? '', limit: 2 }))
      print(message.content);
  },
  optOuts: async () => {
    await ownline.request('put', '/v1/opt-outs/{contact}', { params: { path: { contact: '+14155550177' } } });
    for await (const { contact } of ownline.pages('/v1/opt-outs')) print(contact);
  },
  createWebhook: async () => {
    const body = { url: 'https://example.com/', events: ['message.sent' as const] };
    const [timeoutSeconds = '60'] = args;
    const client = new Ownline({ timeoutMs: Number(timeoutSeconds) * 1_000 });
    print((await client.request('post', '/v1/webhooks', { body })).active);
  },
  read: async () => {
    const [path = '', events = '', timeoutSeconds = '60'] = args;
    const reader = new Ownline({ timeoutMs: Number(timeoutSeconds) * 1_000 });
    let left = Number(events);
    const onGap = (after: string) => print(`gap after ${after}`);
    for await (const event of reader.events.read({ cursor: fileCursor(path), onGap })) {
      print(event.type === 'message.received' ? event.data.content : event.type);
      left -= 1;
      if (left === 0) process.exit();
    }
  },
  get: async () => {
    const [id = ''] = args;
    print((await ownline.messages.get(id)).id);
  },
  verify: async () => {
    const { headers, body, secret, signature } = JSON.parse(readFileSync(0, 'utf8'));
    const event = webhooks.verify(Buffer.from(body, 'base64'), headers, secret, { signature });
    print(event.type === 'message.sent' ? event.data.sent_at : event.type);
  },
};

try {
  await commands[command ?? '']?.();
} catch (error) {
  if (error instanceof webhooks.WebhookVerificationError) print(error.message);
  else if (error instanceof OwnlineError)
    print([
      ...[error.code, error.status, error.param ?? null, error.requestId !== undefined, error.message],
      error.idempotencyKey ?? null,
    ]);
  else throw error;
}
