import { type Answer, type Listener, listen, type Request, sendTo } from './http-message.ts';
import { type Prism, startPrism } from './programs.ts';

/** The outcomes of a run's requests. */
export interface Score {
  /** Number of requests that agree with the document. Their answers are judged. */
  agreeing: number;
  /** Number of requests that break the document. Ownline has to refuse them, and its refusals are judged. */
  refused: number;
  /** Number of requests to an unknown address or method. Ownline has to answer 404 or 405. */
  elsewhere: number;
  readonly violations: string[];
  /** Method, address and status of each answer that was checked. */
  readonly seen: Set<string>;
}

export interface Judge {
  readonly url: string;
  readonly score: Score;
  readonly stop: () => Promise<void>;
}

/** A request that passes through Prism, with the answer of Ownline. */
interface Carried {
  readonly request: Request;
  readonly upstream: string;
  answer?: Answer;
}

/** Ownline accepts no larger body, so Prism does not get one. */
const bodyLimitBytes = 128 * 1024;

/**
 * Proxy between the tests and each Ownline that they start. Prism validates a request and passes it to `carry`, which
 * sends the test's own bytes to Ownline. (Prism would rewrite JSON, and hangs on invalid JSON.) Prism then judges the
 * answer, and the test gets it unchanged.
 */
export async function startJudge(document: string): Promise<Judge> {
  const score: Score = { agreeing: 0, refused: 0, elsewhere: 0, violations: [], seen: new Set() };
  const underway = new Map<string, Carried>();
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  let ids = 0;

  async function carry(request: Request): Promise<Answer> {
    const carried = underway.get(request.headers['x-carried'] ?? '');
    if (carried === undefined) throw new Error(`${request.method} ${request.path} has no known sender`);
    carried.answer = await sendTo(carried.upstream, carried.request);
    return carried.answer;
  }

  /** Sends the request in this form to a Prism. @returns Prism's verdict, and Ownline's answer if Prism asked for it */
  async function ask(prism: Prism, form: Request, carried: Carried) {
    ids += 1;
    const id = String(ids);
    underway.set(id, carried);
    try {
      const said = await sendTo(prism.url, { ...form, headers: { ...form.headers, 'x-carried': id } });
      return { said, answer: carried.answer };
    } finally {
      underway.delete(id);
    }
  }

  async function judge(strict: Prism, lenient: Prism, incoming: Request): Promise<Answer> {
    const { 'x-upstream': upstream = '', ...headers } = incoming.headers;
    const request: Request = { ...incoming, headers };
    const carried: Carried = { request, upstream };
    const what = `${request.method} ${request.path}`;
    const verdict = (answer: Answer, problems: readonly string[]): Answer => {
      score.seen.add(`${request.method} ${request.path.split('?')[0]} ${answer.status}`);
      if (problems.length === 0) return answer;
      const text = problems.join('; ');
      score.violations.push(`${what} answered ${answer.status}: ${text}`);
      return { ...answer, headers: { ...answer.headers, 'x-violations': encodeURI(text.slice(0, 2_000)) } };
    };

    const first = isReadable(request) ? await ask(strict, request, carried) : undefined;
    if (first?.answer) {
      score.agreeing += 1;
      return verdict(first.answer, problemsOf(first.said));
    }
    if (first && /NO_(PATH|METHOD)_MATCHED/.test(first.said.body.toString())) {
      score.elsewhere += 1;
      const answer = await sendTo(upstream, request);
      const isRefused = answer.status === 404 || answer.status === 405;
      return verdict(answer, isRefused ? [] : ['the document has no such operation']);
    }
    // Prism refused the request, so Ownline has to refuse it, too. The lenient Prism does not validate requests, and
    // only judges that refusal. It requires a key, so the request has one.
    score.refused += 1;
    const form = { ...request, headers: { 'x-api-key': 'not looked at' }, body: Buffer.alloc(0) };
    const second = await ask(lenient, form, carried);
    if (second.answer === undefined) throw new Error(`Prism kept ${what}: ${second.said.body}`);
    const isTaken = second.answer.status < 400;
    const why = isTaken ? [`Ownline takes what the document forbids: ${first?.said.body}`] : [];
    return verdict(second.answer, [...why, ...problemsOf(second.said)]);
  }

  try {
    const upstream: Listener = await listen(carry);
    closers.push(upstream.close);
    const strict = await startPrism(document, upstream.url);
    closers.push(strict.stop);
    const lenient = await startPrism(document, upstream.url, ['--validate-request=false']);
    closers.push(lenient.stop);
    const front = await listen((request) => judge(strict, lenient, request));
    closers.push(front.close);
    return { url: front.url, score, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** True if Prism can read the body. A body that it can't read violates the document. */
function isReadable({ body }: Request): boolean {
  if (body.length === 0) return true;
  if (body.length > bodyLimitBytes) return false;
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return true;
  } catch {
    return false;
  }
}

/** Prism's complaints from its header, warnings included. An undocumented status is a warning. */
function problemsOf(said: Answer): string[] {
  const violations = said.headers['sl-violations'];
  if (violations !== undefined) return [violations];
  const isPrisms = said.headers['content-type']?.includes('problem+json') ?? false;
  return isPrisms ? [said.body.toString()] : [];
}
