import { type DatabaseAddress, parseDatabaseUrl } from '#server/platform/database-address.ts';
import { StartError } from '#server/platform/start-error.ts';
import { connectionsMax, errorCodeOf } from './database.ts';
import { NoConnectionError } from './no-connection.ts';

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
  const code = errorCodeOf(error) ?? '';
  const { message } = error;
  return connectionProblem(code, error, address) ?? refusal(code, message, address);
}

/** Explains why no PostgreSQL was reached. */
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

/** Explains why PostgreSQL refused the connection. */
function refusal(code: string, message: string, address: DatabaseAddress): string | undefined {
  const { server, role, database } = address;
  if (/password must be a (non-empty )?string/.test(message)) {
    return `PostgreSQL at ${server} asks for a password, and DATABASE_URL has none for the role ${role}. Add it.`;
  }
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
    case '25006':
      return `DATABASE_URL leads to a read-only PostgreSQL at ${server}, such as a standby. Use the address of the primary.`;
    case '53300':
      return `PostgreSQL at ${server} has no connection left. Raise its max_connections: each process of Ownline takes up to ${connectionsMax}.`;
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

/** Explains what a role lacks that may connect: the right to make tables, or to use those of another role. */
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
