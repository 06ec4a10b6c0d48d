import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import { findMediaFile, readMedia } from '#server/media/media-store.ts';
import { mediaLeaseMarginMs } from '#server/messages/limits.ts';
import { findMessage } from '#server/messages/message-store.ts';
import { operator } from '#server/platform/actor.ts';
import { readConfig } from '#server/platform/config.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { createTeam } from '#server/teams/team/team.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { answerOf, startMediaHost } from '#test/support/media/media-host.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { countStoredMedia, endFetchLeases, setClaims } from '#test/support/media/stored-media.ts';
import { acceptAll, sendRow } from '#test/support/messages/accept-all.ts';
import { putNumber } from '#test/support/numbers/given-numbers.ts';
import { spawnService } from '#test/support/processes/spawned-service.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const timeoutMs = 5_000;
const from = '+14155550100';

describe('a process that is killed while it fetches media (specification section 10.3)', () => {
  const dataDir = givenFolder('ownline-kills-');
  const database = given(createTestDatabase);
  const settings = () => ({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    EGRESS_ALLOW_CIDRS: '127.0.0.1',
    MEDIA_TIMEOUT_MS: String(timeoutMs),
  });
  const stored = given(() => connectToDatabase(database.url));
  const runtime = given(
    () => openRuntime(readConfig(settings()), database.url, createLogger('fatal')),
    (opened) => opened.database.close(),
  );
  const host = given(startMediaHost);
  let teamId: TeamId;

  before(async () => {
    ({ id: teamId } = await runtime.database.transaction((trx) =>
      createTeam(trx, runtime, { name: 'Example team', plan: 'enterprise', by: operator }),
    ));
    await putNumber({ runtime, clock: runtime.clock, query: stored.query }, teamId, from);
  });

  const send = async (path: string): Promise<MessageId> => {
    const url: string = host.url(path);
    const row = sendRow({ teamId, from, to: '+14155550101', content: 'Look' });
    const [outcome] = await acceptAll(runtime, [
      { ...row, media: { urlOf: () => url, origin: new URL(url).origin } },
    ]);
    assert.ok(outcome?.messageId, String(outcome?.verdict));
    return outcome.messageId;
  };
  const killWhileFetching = async (pass: number) => {
    const ended = spawnService({ settings: { ...settings(), FAILPOINT: `media arriving:${pass}` } }).then(
      (service) => service.ended,
      (error: Error) => error.message,
    );
    assert.match(String(await ended), /SIGKILL/);
  };

  it('a fetch of a killed process is made again after its lease, and nothing remains of the first try', async () => {
    const bytes = jpegOf(3_000_000);
    host.set('/menu.jpg', answerOf(200, bytes));
    const id = await send('/menu.jpg');
    await killWhileFetching(30);
    assert.equal((await countStoredMedia(stored)).complete, 0);
    assert.ok((await countStoredMedia(stored)).chunks > 0, 'it died in the middle of the file');
    const service = await spawnService({ settings: settings(), movesClock: true });
    await service.advance(timeoutMs + mediaLeaseMarginMs + 1_000);
    const file = await until('the file is complete', () =>
      findMediaFile(runtime.database.pool, { messageId: id }),
    );
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
    const read = Buffer.concat(await Array.fromAsync(readMedia(runtime.database.pool, file)));
    assert.ok(read.equals(bytes));
    assert.deepEqual(await countStoredMedia(stored), { complete: 1, incomplete: 0, chunks: 12 });
  });

  it('a kill of the process does not count as a try of a fetch (§3.2/media-tries)', async () => {
    host.set('/unlucky.jpg', answerOf(200, jpegOf(1_000_000)));
    const id = await send('/unlucky.jpg');
    await killWhileFetching(5);
    // This has the effect of two more killed processes. A fetch that fails may be tried three times.
    await setClaims(stored, id, 3);
    await endFetchLeases(stored);
    const service = await spawnService({ settings: settings() });
    await until('the file is complete', () => findMediaFile(runtime.database.pool, { messageId: id }));
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
  });

  it('a message fails if the process was killed during 20 fetches of its file (§3.2/media-tries)', async () => {
    host.set('/deadly.jpg', answerOf(200, jpegOf(1_000_000)));
    const id = await send('/deadly.jpg');
    await killWhileFetching(5);
    await setClaims(stored, id, 20);
    await endFetchLeases(stored);
    const service = await spawnService({ settings: settings() });
    const failed = await until('it failed', async () => {
      const message = await findMessage(runtime.database.pool, { teamId, messageId: id });
      return message?.status === 'failed' && message;
    });
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
    assert.deepEqual([failed.error_code, failed.media_failure], ['media_unavailable', 'interrupted']);
    assert.equal((await countStoredMedia(stored)).incomplete, 0);
  });
});
