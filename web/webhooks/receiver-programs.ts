/** Receivers that verify signatures: the programs of docs/webhooks.md, which a test runs. */
export const receiverPrograms = {
  Node: {
    file: 'receiver.mjs',
    run: 'node receiver.mjs',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
const seen = new Set(); // for production: a table with a unique key

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const right = Buffer.from(\`sha256=\${createHmac('sha256', secret).update(body).digest('hex')}\`);
  const given = Buffer.from(request.headers['x-service-signature'] ?? '');
  if (given.length !== right.length || !timingSafeEqual(given, right)) {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(200).end();
  const event = JSON.parse(body);
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(event.type, event.data.id);
}).listen(process.env.PORT);
`,
  },
  Python: {
    file: 'receiver.py',
    run: 'python3 receiver.py',
    code: `import hashlib, hmac, json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = os.environ["WEBHOOK_SECRET"].encode()
seen = set()  # for production: a table with a unique key


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        right = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
        given = self.headers.get("x-service-signature", "")
        if not hmac.compare_digest(given.encode(), right.encode()):
            self.send_response(401)
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        event = json.loads(body)
        if event["id"] not in seen:
            seen.add(event["id"])
            print(event["type"], event["data"]["id"], flush=True)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
`,
  },
} as const;

export type Language = keyof typeof receiverPrograms;
export const languages = Object.keys(receiverPrograms) as Language[];
