import { decodePercent } from './decode-percent.ts';

/** The parts of DATABASE_URL for messages, without the password. */
export interface DatabaseAddress {
  /** Host and port, such as `db.example.com:5432`, or the path of a socket. */
  readonly server: string;
  readonly role: string;
  readonly database: string;
}

/** Parses DATABASE_URL. @returns undefined for an address that node-postgres can't read */
export function parseDatabaseUrl(text: string): DatabaseAddress | undefined {
  // The address of a socket has no host, but `URL` requires one after a role.
  const written = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1socket');
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(written)) return undefined;
  const url = new URL(written);
  const [role, database, hostname] = [url.username, url.pathname.slice(1), url.hostname].map(decodePercent);
  if (role === undefined || database === undefined || hostname === undefined) return undefined;
  if (decodePercent(url.password) === undefined) return undefined;
  const host = url.searchParams.get('host') ?? (written === text ? hostname : 'localhost');
  const port = url.searchParams.get('port') ?? (url.port || '5432');
  return {
    server: host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host || 'localhost'}:${port}`,
    role,
    database: database || role,
  };
}
