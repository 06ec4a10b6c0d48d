/** The parts of DATABASE_URL for messages. They never include the password. */
export interface DatabaseAddress {
  /** `db.example.com:5432`, or the path of a socket. */
  readonly server: string;
  readonly role: string;
  readonly database: string;
}

/** @returns undefined for an address that node-postgres could not read */
export function parseDatabaseUrl(text: string): DatabaseAddress | undefined {
  // An address of a socket has no host, which a URL with a role needs.
  const written = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1socket');
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(written)) return undefined;
  const url = new URL(written);
  const [role, database, hostname] = [url.username, url.pathname.slice(1), url.hostname].map(decode);
  if (role === undefined || database === undefined || hostname === undefined) return undefined;
  if (decode(url.password) === undefined) return undefined;
  const host = url.searchParams.get('host') ?? (written === text ? hostname : 'localhost');
  const port = url.searchParams.get('port') ?? (url.port || '5432');
  return {
    server: host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host || 'localhost'}:${port}`,
    role,
    database: database || role,
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
