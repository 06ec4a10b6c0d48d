import { randomBytes } from 'node:crypto';
import pg from 'pg';

/**
 * Makes a role and its database on a running PostgreSQL. The role may only create databases, as that of the embedded one.
 * @param url of a role that may create roles and databases
 * @returns their URL in the form of `engineUrl`, and `close`, which drops the role with all its databases
 */
export async function borrowServer(url: string) {
  const administrator = new pg.Client({ connectionString: url });
  await administrator.connect();
  const [role, password] = [
    `ownline_test_${randomBytes(4).toString('hex')}`,
    randomBytes(16).toString('hex'),
  ];
  await administrator.query(`CREATE ROLE ${role} LOGIN CREATEDB PASSWORD '${password}'`);
  // Only a superuser may give a database to a role that it is not in.
  await administrator.query(`GRANT ${role} TO CURRENT_USER`);
  await administrator.query(`CREATE DATABASE ${role} OWNER ${role} TEMPLATE template0 ENCODING 'UTF8'`);
  const host = encodeURIComponent(administrator.host);
  return {
    url: `postgresql://${role}:${password}@/${role}?host=${host}&port=${administrator.port}`,
    crashes: async () => [],
    close: async () => {
      const { rows } = await administrator.query(
        'SELECT datname FROM pg_database WHERE datdba = $1::regrole',
        [role],
      );
      for (const { datname } of rows) await administrator.query(`DROP DATABASE ${datname} WITH (FORCE)`);
      await administrator.query(`DROP ROLE ${role}`);
      await administrator.end();
    },
  };
}
