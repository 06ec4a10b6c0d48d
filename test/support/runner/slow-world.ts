import { Server } from 'node:http';
import pg from 'pg';

/**
 * Delays notifications of PostgreSQL, some results of statements, and some requests, to show races that a loaded machine
 * shows rarely. `npm test -- --slow-world` loads this file into every process. Nothing is lost or reordered, so each
 * failure is a race of a test or of the product.
 */
const notificationMs = 250;
const result = { each: 12, ms: 60 };
const request = { each: 5, ms: 300 };

type Method = (...values: unknown[]) => unknown;
type Target = Record<string, Method>;

const client = pg.Client.prototype as unknown as Target;
const { query, emit } = client as { readonly query: Method; readonly emit: Method };
let queries = 0;

client.query = function delayedQuery(...values) {
  queries += 1;
  if (queries % result.each !== 0) return query.apply(this, values);
  const callback = values.at(-1);
  if (typeof callback === 'function') {
    const delayed = (...answer: unknown[]) => setTimeout(() => callback(...answer), result.ms);
    return query.apply(this, [...values.slice(0, -1), delayed]);
  }
  const answer = query.apply(this, values);
  if (!(answer instanceof Promise)) return answer;
  const pause = () => new Promise((resolve) => setTimeout(resolve, result.ms));
  return answer.finally(pause);
};

client.emit = function delayedEmit(...values) {
  if (values[0] !== 'notification') return emit.apply(this, values);
  setTimeout(() => emit.apply(this, values), notificationMs);
  return true;
};

const server = Server.prototype as unknown as Target;
const { emit: emitOfServer } = server as { readonly emit: Method };
let requests = 0;

server.emit = function delayedRequest(...values) {
  if (values[0] !== 'request') return emitOfServer.apply(this, values);
  requests += 1;
  if (requests % request.each !== 0) return emitOfServer.apply(this, values);
  setTimeout(() => emitOfServer.apply(this, values), request.ms);
  return true;
};
