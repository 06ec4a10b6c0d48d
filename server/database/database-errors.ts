import { AppError, unavailable } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { type DatabaseAddress, parseDatabaseUrl } from '#server/platform/setting-reader.ts';
import { StartError } from '#server/platform/start-error.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { describeFullDisk, walFreeMinBytes } from './data-dir.ts';
import { connectionRemedy, isDatabaseAway, readOnlyCode } from './database.ts';
import { poolerRemedy } from './require-settings.ts';
import { NoConnectionError, tooManyCode } from './seek-connection.ts';
import { olderDatabaseOf } from './timeline.ts';

/**
 * Runs the first database work of a start or of a command.
 * @param databaseUrl the setting DATABASE_URL; undefined: the embedded database
 * @throws StartError that names the setting and the remedy, if the operator can remove the cause
 */
export async function withDatabaseErrors<T>(
  databaseUrl: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const address = databaseUrl === undefined ? undefined : parseDatabaseUrl(databaseUrl);
    const text = address && sentenceFor(error, address);
    throw text === undefined ? error : new StartError(text, error);
  }
}

const certificateCodes =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/;

function sentenceFor(thrown: unknown, address: DatabaseAddress): string | undefined {
  const error = thrown instanceof NoConnectionError ? thrown.cause : thrown;
  if (!(error instanceof Error) || error instanceof StartError) return undefined;
  const older = olderDatabaseOf(error);
  if (older) return older.message;
  const code = errorCodeOf(error) ?? '';
  const { message } = error;
  return connectionProblem(code, error, address) ?? refusal(code, message, address);
}

function connectionProblem(code: string, error: Error, { server }: DatabaseAddress): string | undefined {
  const { message } = error;
  if ('syscall' in error && error.syscall === 'open' && 'path' in error) {
    return `The file ${error.path}, which DATABASE_URL names, can't be read (${code}). Correct sslrootcert, sslcert or sslkey.`;
  }
  if (code === 'ECONNREFUSED' || code === 'ENOENT') {
    return `DATABASE_URL names ${server}, where no PostgreSQL listens. Start it, or correct the host and the port.`;
  }
  if (code === 'EACCES')
    return `DATABASE_URL names ${server}, which this user may not open. Start Ownline as a user who may, or correct the host.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `DATABASE_URL names ${server}, and that name has no address. Correct it, or check the name server.`;
  }
  if (['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code) || message === 'timeout expired') {
    return `DATABASE_URL names ${server}, which does not answer. Check host, port and the firewall between here and there.`;
  }
  if (message === 'The server does not support SSL connections') {
    return (
      `DATABASE_URL asks for TLS, which PostgreSQL at ${server} does not offer. Set ssl = on there, or take sslmode and ssl ` +
      'out of DATABASE_URL.'
    );
  }
  if (certificateCodes.test(code)) {
    return (
      `The certificate of PostgreSQL at ${server} is not trusted (${code}). Add sslrootcert=/path/to/its/authority.pem to ` +
      'DATABASE_URL, and use a host name that the certificate has.'
    );
  }
  if (code === 'ECONNRESET' || message === 'Connection terminated unexpectedly') {
    return `DATABASE_URL names ${server}, which ended the connection: it may be no PostgreSQL. Correct host and port.`;
  }
  return undefined;
}

function refusal(code: string, message: string, address: DatabaseAddress): string | undefined {
  const { server, role, database } = address;
  if (/password must be a (non-empty )?string/.test(message)) {
    return `PostgreSQL at ${server} asks for a password, and DATABASE_URL has none for the role ${role}. Add it.`;
  }
  // With a pooler a prepared statement of one connection exists on another one, or is missing on its own.
  if (/unsupported startup parameter/.test(message) || ['42P05', '26000'].includes(code))
    return `A pooler such as PgBouncer answers at ${server} (${message}). ${poolerRemedy}`;
  switch (code) {
    case '28P01':
      return `PostgreSQL at ${server} refuses the password of the role ${role}. Correct it in DATABASE_URL.`;
    case '28000':
      return notAllowed(message, address);
    case '3D000':
      return (
        `PostgreSQL at ${server} has no database ${database}. Correct DATABASE_URL, or make it: ` +
        `CREATE DATABASE ${database} OWNER ${role};`
      );
    case '42501':
      return mayNotChange(message, address);
    case readOnlyCode:
      return `DATABASE_URL leads to a read-only PostgreSQL at ${server}, such as a standby. Use the address of the primary.`;
    case tooManyCode:
      return `PostgreSQL at ${server} has no connection left. ${connectionRemedy}`;
    case '57P03':
      return `PostgreSQL at ${server}, which DATABASE_URL names, is starting or stopping. Repeat this in a moment.`;
    case '53100':
      return `PostgreSQL at ${server}, which DATABASE_URL names, has a full disk (${message}). Free space there.`;
    case '55P03':
      return (
        `Another session locks tables of the database ${database} at ${server}, so Ownline could not read or make its own. ` +
        'Repeat this when that session has ended.'
      );
    default:
      return undefined;
  }
}

/** Explains which right a role lacks that may connect: to create tables, or to use tables of another role. */
function mayNotChange(message: string, { server, role, database }: DatabaseAddress): string {
  const refused = `The role ${role} may not change the database ${database} at ${server} (${message}).`;
  const schema = /^permission denied for schema (\S+)$/.exec(message)?.[1];
  if (schema === undefined)
    return `${refused} Use the role in DATABASE_URL that made the tables of Ownline there.`;
  return (
    `${refused} As the owner of that database, run there: GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role}; ` +
    'or use its owner in DATABASE_URL.'
  );
}

function notAllowed(message: string, { server, role, database }: DatabaseAddress): string {
  if (/^role .* does not exist$/.test(message)) {
    return `PostgreSQL at ${server} has no role ${role}. Correct DATABASE_URL, or make it: CREATE ROLE ${role} LOGIN PASSWORD '…';`;
  }
  const isPlain = /no encryption|SSL off/.test(message);
  return (
    `PostgreSQL at ${server} does not let the role ${role} into the database ${database} (${message}). ` +
    `${isPlain ? 'Where it takes encrypted connections only, add sslmode=verify-full to DATABASE_URL. Else add' : 'Add'} a line ` +
    'for them to its pg_hba.conf and reload it.'
  );
}

/** SQLSTATE of a statement that was rolled back because the disk is full. */
export const diskFullCode = '53100';

/** How long the result of one disk check is reused, however many requests fail meanwhile. */
const lookMs = 1_000;

/**
 * Adds the cause to an error's message if the disk is full or the database is read-only (specification section 10.4).
 * @returns a function that maps an error of the disk to one with the cause; other errors stay as they are
 */
export function createWriteErrorMapper(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  clock: Pick<Clock, 'elapsedMs'>,
): (error: unknown) => unknown {
  const isEmbedded = databaseUrl === undefined;
  let last: { readonly atMs: number; readonly text: string | undefined } | undefined;
  const look = () => {
    if (!last || clock.elapsedMs() - last.atMs >= lookMs) {
      last = { atMs: clock.elapsedMs(), text: describeFullDisk(dataDir, walFreeMinBytes) };
    }
    return last.text;
  };
  return (error) => {
    const cause = error instanceof AppError ? error.cause : error;
    if (cause === undefined) return error;
    const older = olderDatabaseOf(error);
    if (older) return unavailable(older.message, { cause });
    if (errorCodeOf(cause) === diskFullCode) {
      const disk = isEmbedded ? `The disk of ${dataDir}` : 'The disk of the database in DATABASE_URL';
      return unavailable(
        `${disk} is full, and the database can't write. Nothing was stored: repeat the request when its operator has freed space.`,
        { cause },
      );
    }
    if (errorCodeOf(cause) === readOnlyCode) {
      const database = isEmbedded ? 'The database' : 'The database in DATABASE_URL';
      return unavailable(
        `${database} is read-only and takes no writes. Nothing was stored: repeat the request when its operator has named the ` +
          'primary instead of a standby, or has switched default_transaction_read_only off.',
        { cause },
      );
    }
    // Without space for its write-ahead log the embedded PostgreSQL ends and can't start, so the disk may explain why
    // the database is away.
    const text = isEmbedded && isDatabaseAway(cause) ? look() : undefined;
    if (text === undefined) return error;
    if (!(error instanceof AppError))
      return unavailable(`The database does not answer. ${text}`, { status: 500, cause });
    const { code, message, status, headers } = error;
    return new AppError(code, `${message} ${text}`, { status, headers, cause });
  };
}
