/**
 * The command line of PostgreSQL. Settings are given here and not in postgresql.conf, so a new release brings
 * its own; `parameters` win over them.
 */
export function postgresArguments(
  pgFolder: string,
  socketFolder: string,
  port: number,
  parameters: Readonly<Record<string, string>>,
): string[] {
  const settings = {
    listen_addresses: '',
    // A list whose items may be quoted, for a path with a comma or a space.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(port),
    max_connections: '200',
    shared_buffers: '128MB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // An error's detail and its statement may hold addresses, texts and hashes: neither enters the log.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    ...parameters,
  };
  return ['-D', pgFolder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
