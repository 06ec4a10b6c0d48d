import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { RouteRow } from '#server/cli/route-table.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenService } from '#test/support/service/given-team.ts';

// The folder does not exist and the database has no server, as `routes` needs neither.
const commands = new CommandLine(join(tmpdir(), 'ownline-no-such-folder'));
const noDatabase = { DATABASE_URL: 'postgresql://127.0.0.1:1/none' };

describe('ownline routes', () => {
  let rows: RouteRow[];
  const service = givenService();
  before(async () => {
    const { code, output, errors } = await commands.run(['routes', '--json'], noDatabase);
    assert.equal(code, 0, errors);
    rows = JSON.parse(output);
  });

  it('ownline routes lists each route that the server serves, without a database', () => {
    const namesOf = (routes: readonly { method: string; path: string; audience: string }[]) =>
      routes.map(({ method, path, audience }) => `${method} ${path} ${audience}`);
    assert.deepEqual(namesOf(rows), namesOf(service.app.routes));
  });

  it('ownline routes shows the schemas of a request as JSON Schema', () => {
    const find = (method: string, path: string) =>
      rows.find((row) => row.method === method && row.path === path);
    const send = find('POST', '/v1/messages/send');
    const served = service.app.routes.find(({ path }) => path === '/v1/messages/send');
    assert.equal(send?.content_type, 'application/json');
    assert.equal(send.permission, 'messages:send');
    assert.deepEqual(send.body, JSON.parse(JSON.stringify(served?.body)));
    assert.equal(find('GET', '/v1/webhooks')?.member_permission, 'webhooks:read');
    assert.equal(find('POST', '/v1/device/inbound')?.content_type, 'application/json');
    assert.equal(find('POST', '/sign-in')?.content_type, 'application/x-www-form-urlencoded');
    for (const { method, path, body, query, body_limit_bytes: limit, audience } of rows) {
      assert.equal(
        limit !== null,
        method !== 'GET',
        `${method} ${path} has a body limit where it reads a body`,
      );
      if (audience === 'api') assert.ok(query !== null && (body !== null) === (method !== 'GET'), path);
    }
  });

  it('ownline routes marks the routes of long polls', () => {
    assert.deepEqual(
      rows.filter(({ held }) => held).map(({ path }) => path),
      [
        '/v1/events',
        '/v1/device/poll',
        '/setup/:token/state',
        '/app/teams/:team_id/live',
        '/v1/device/probe/:ticket',
        '/app/teams/:team_id/events',
      ],
    );
  });
});
