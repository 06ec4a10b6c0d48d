/**
 * The command line of PostgreSQL. Settings are passed here rather than in postgresql.conf, so that a new release can
 * change them. `parameters` override them.
 */
export function postgresArguments(
  pgFolder: string,
  socketFolder: string,
  port: number,
  parameters: Readonly<Record<string, string>>,
): string[] {
  const settings = {
    listen_addresses: '',
    // The setting is a list: quotes protect a path with a comma or a space.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(port),
    max_connections: '200',
    shared_buffers: '128MB',
    jit: 'off',
    // Queues change all the time. Their dead rows are removed often, so that look-ups pass few of them.
    autovacuum_naptime: '10s',
    // Compression and checkpoints of the write-ahead log keep their defaults (decision 0036).
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // The detail and the statement of an error may contain addresses, texts and hashes, so PostgreSQL does not log
    // them.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    ...parameters,
  };
  return ['-D', pgFolder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
