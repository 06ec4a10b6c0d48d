import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { insertMagicLink } from '#server/accounts/magic-links/magic-link.ts';
import { insertChallenge } from '#server/accounts/passkeys/passkeys.ts';
import { openSlices } from '#server/app/slices.ts';
import { ClockSync } from '#server/database/clock-sync.ts';
import { createSweepLoop } from '#server/database/jobs.ts';
import type { Sweep } from '#server/database/slice.ts';
import { mediaChunkBytes } from '#server/media/limits.ts';
import { MediaWriter } from '#server/media/media-writer.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { invite } from '#test/support/people/invite.ts';
import { newPerson } from '#test/support/people/people.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { startSteppingService, untilStep } from '#test/support/service/stepping-service.ts';
import { until } from '#test/support/service/until.ts';
import { newAttempt, newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const dayMs = 86_400_000;

/** Every sweep that expires rows, with the tables in which it deletes or changes rows. */
const expiring: Readonly<Record<string, readonly string[]>> = {
  'resolve overdue hand-outs': ['in_flight'],
  'expire queued messages': ['send_queue'],
  'delete pending numbers': ['numbers'],
  'watch the health of numbers': ['number_health'],
  'purge old keys': ['idempotency_keys', 'inbound_fingerprints'],
  'purge recent hand-outs': ['recent_hand_outs'],
  'purge expired sessions and links': [
    'account_sessions',
    'magic_links',
    'passkey_challenges',
    'throttle_counters',
  ],
  'purge setup links': ['setup_links'],
  'purge mails': ['mails'],
  'purge abandoned media': ['media', 'media_chunks'],
  'purge invitations': ['invitations'],
  // This sweep runs last, because it deletes messages that the other sweeps finish.
  'purge history': ['messages', 'events', 'conversations', 'attempts', 'audit_log'],
};

/** Every other sweep, with the reason why a wrong clock does no harm to its rows. */
const keeping: Readonly<Record<string, string>> = {
  'wake held polls': 'answers polls that are held',
  'check promotions of standbys': 'compares timelines and hand-outs',
  'wake held readers of events': 'answers requests that are held',
  'write when keys were used': 'writes a stamp',
  'record that polls are served': 'writes a stamp',
  'fail messages of deleted numbers': 'acts on a deletion by a person',
  'fail messages of test keys': 'acts on the recipient of a message, whatever its age',
  'fail messages to contacts that opted out': 'acts on an opt-out by a contact or a person',
  'fail returned messages to contacts that opted out': 'acts on an opt-out by a contact or a person',
  'release messages': 'makes messages ready that are for now',
  'send texts of lock tests': 'acts on a test that a person has started',
  'sign messages for searches': 'signs messages that are a minute old, and ends nothing',
  'erase contacts': 'acts on the request of a person',
  'analyze tables after an erasure': 'writes statistics',
  'purge recipients of test texts': 'forgets whom the test texts of an ended link went to',
  'tell teams that near their limit': 'counts what was accepted',
  'skip deliveries of webhooks that are off': 'acts on a webhook that is off',
  'limit times that lie too far ahead': 'shortens what lies too far ahead, and ends nothing',
};

describe('expiry while a clock step is held (specification section 10.7, decision 0020)', () => {
  let sweeps: (Sweep & { readonly loop: Loop })[];
  const service = given(() =>
    startSteppingService({
      ROLES: 'api',
      AUDIT_DAYS: '30',
      RETENTION_DAYS: '60',
      PACING: 'gentle',
    }),
  );

  before(async () => {
    await fill();
    const runtime = { ...service.runtime, metrics: createMetrics() };
    const services = {
      ...runtime,
      databaseUrl: service.databaseUrl,
      clockSync: new ClockSync(runtime),
      outbound: new OutboundHttp({ allowed: [] }),
      isStopping: () => false,
      explainError: (error: unknown) => error,
      running: { address: '', loops: [] },
    };
    const jobs = openSlices(services).slices.flatMap((slice) => slice.jobs ?? []);
    sweeps = jobs
      .filter((job) => 'sweep' in job)
      .map((job) => ({ ...job, loop: createSweepLoop(services, job) }));
  });

  /** Makes a row of every kind that expires. */
  async function fill(): Promise<void> {
    const team = await service.newTeam();
    const phone = await connectNumber(service, team);
    const waits = await connectNumber(service, team);
    await team.api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
    for (const { phoneNumber } of [phone, waits]) {
      const message = { from: phoneNumber, to: '+14155550199', content: 'Hello' };
      const options = { 'idempotency-key': phoneNumber };
      assert.equal((await team.api.post('/v1/messages/send', message, options)).status, 202);
    }
    assert.equal((await phone.wire.poll()).action, 'send');
    await phone.wire.call('inbound', { from: '+14155550188', text: 'Hi' });
    await invite(service, team, 'sam@example.com');
    const { account } = await newPerson(service);
    const { database, clock, ids } = service.runtime;
    const soon = clock.in(60_000);
    const challenge = { challengeHash: sha256('challenge'), accountId: account.id, expiresAt: soon };
    await insertChallenge(database.pool, challenge);
    await database.transaction((trx) =>
      insertMagicLink(trx, {
        id: ids.next('alk'),
        accountId: account.id,
        tokenHash: sha256('link'),
        createdAt: clock.now(),
        expiresAt: soon,
      }),
    );
    await service.query('INSERT INTO throttle_counters (subject, window_start, hits) VALUES ($1, $2, 1)', [
      sha256('somebody'),
      clock.now(),
    ]);
    const { id: webhook } = await newWebhook(team.api);
    await newAttempt(service, team, await newDelivery(service, team, webhook));
    await service.query(
      `INSERT INTO mails (id, recipient, created_at, next_attempt_at, sent_at) VALUES ($1, 'sam@example.com', $2, $2, $2)`,
      [ids.next('mail'), clock.now()],
    );
    const media = { teamId: team.id, messageId: ids.next('msg'), wantedName: undefined };
    await new MediaWriter(service.runtime, media).write(jpegOf(mediaChunkBytes));
  }

  /** All rows of all tables as texts, except tables that every request, clock reading or start of claims writes. */
  async function rows(): Promise<Map<string, string>> {
    const written = [
      'rate_windows',
      'service_clock',
      'clock_readings',
      'poll_service',
      'api_keys',
      'promotions',
      'schema_versions',
    ];
    const tables = await service.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
         AND relname <> ALL ($1) ORDER BY relname`,
      [written],
    );
    const all = new Map<string, string>();
    for (const { name } of tables) {
      const found = await service.query<{ row: string }>(
        `SELECT to_jsonb(t)::text AS row FROM ${name} t ORDER BY 1`,
      );
      all.set(name, found.map(({ row }) => row).join('\n'));
    }
    return all;
  }

  const changed = (one: Map<string, string>, other: Map<string, string>) =>
    [...one.keys()].filter((table) => one.get(table) !== other.get(table));

  it('every sweep declares whether it expires rows, and is in one of the tables of this test', () => {
    const named = (expiry: string) =>
      sweeps.flatMap((one) => (one.expiry === expiry ? one.sweep : [])).sort();
    assert.deepEqual([...named('expires'), ...named('resolves')].sort(), Object.keys(expiring).sort());
    assert.deepEqual(named('keeps'), Object.keys(keeping).sort());
  });

  it('no sweep ends or deletes overdue rows while a clock step is held (§10.7/clock-ahead)', async () => {
    await service.step(dayMs);
    await untilStep(service.baseUrl, dayMs / 1_000);
    service.clock.advance(400 * dayMs);
    const full = await rows();
    for (const { loop } of sweeps) await loop.runOnce();
    assert.deepEqual(changed(full, await rows()), []);

    await service.step(0);
    await untilStep(service.baseUrl, 0);
    await passServedTime(service, 6 * 60_000);
    for (const [sweep, tables] of Object.entries(expiring)) {
      // Messages are purged after their events, and an event is kept until it has a position in the feed.
      await publishAll(service);
      const earlier = await rows();
      const loop = sweeps.find((of) => of.sweep === sweep)?.loop;
      await until(`${sweep}: ${tables}`, async () => {
        await loop?.runOnce();
        const touched = changed(earlier, await rows());
        if (tables.every((table) => touched.includes(table))) return true;
        service.clock.advance(60_000);
        return false;
      });
    }
  });
});
