import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageHistory } from '#server/messages/purge-messages.ts';
import { searchMessagesMax } from '#server/messages/search/limits.ts';
import { lockToErase } from '#server/messages/search/segment-store.ts';
import { Signer } from '#server/messages/search/sign-segments.ts';
import { firstIdAt } from '#server/platform/ids.ts';
import { walkPages } from '#test/support/database/explain-page.ts';
import { purgeHistory } from '#test/support/database/purge-history.ts';
import { ids, type Page } from '#test/support/http/walk-message-pages.ts';
import { holdTexts, putTexts, storedSegments, type Text } from '#test/support/messages/given-texts.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiClient, canaryMark } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const hourMs = 3_600_000;
const words = 'table ready tomorrow order seven menu table tables yes thanks Grüße 预约 1042 able'.split(' ');

/** Texts of three words each, of 80 contacts in turn. */
const texts = (count: number): Text[] =>
  Array.from({ length: count }, (_, n) => ({
    content: [n, n * 7 + 3, n * n].map((index) => words[index % words.length]).join(' '),
    contact: `+141555501${10 + (n % 80)}`,
    direction: n % 3 === 0 ? 'inbound' : 'outbound',
  }));

describe('GET /v1/messages/search (specification section 4.3)', () => {
  // Without the role maintain, so that messages are signed when the test says so.
  const service = givenService({ ROLES: 'api' });
  given(() => plantCanary(service));
  const signer = given(async () => new Signer(service.runtime));

  /** A team with a number. */
  async function newSender() {
    const team = await service.newTeam();
    const { numberId, phoneNumber } = await connectNumber(service, team);
    return { team, number: { teamId: team.id, numberId: uuidOf('num', numberId), phoneNumber } };
  }
  const hourAgo = () => service.clock.nowMs() - hourMs;
  const search = async (api: ApiClient, q: string, more = ''): Promise<Page> => {
    const answer = await api.get(`/v1/messages/search?q=${encodeURIComponent(q)}${more}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Page;
  };
  /** The ids of all pages. */
  const walkAll = async (api: ApiClient, q: string, limit = 100) => {
    const read = (cursor: string) => search(api, q, `&limit=${limit}&cursor=${cursor}`);
    return ids((await walkPages(read, ({ messages }) => messages, 500)).rows);
  };
  const signed = async (teamId: string) => (await storedSegments(service, teamId)).length;

  it('a search finds what a plain look at all texts finds, newest first, in pages of any size, before and after the messages are signed (§4.3/search)', async () => {
    const { team, number } = await newSender();
    const all = texts(1_500);
    const stored = await putTexts(service, number, all, hourAgo());
    const expected = (word: string) =>
      stored.filter((_, n) =>
        all[n]?.content
          .normalize('NFD')
          .replaceAll('\u0308', '')
          .toLowerCase()
          .split(' ')
          .some((one) => one.startsWith(word)),
      );
    for (const isSigned of [false, true]) {
      if (isSigned) await signer.run();
      assert.equal((await signed(team.id)) > 4, isSigned);
      for (const [q, found] of [
        ['table', expected('table')],
        ['able', expected('able')],
        ['GRU', expected('gru')],
        ['预约', expected('预约')],
        ['1042', expected('1042')],
        ['0123', stored.filter((_, n) => n % 80 === 13)],
        ['absent', []],
        ['tables seven', expected('tables').filter((id) => expected('seven').includes(id))],
        ['+1 (415) 555-0155 menu', expected('menu').filter((id) => stored.indexOf(id) % 80 === 45)],
      ] as const)
        for (const limit of [7, 100])
          assert.deepEqual(await walkAll(team.api, q, limit), found.toReversed(), `${q} ${limit}`);
    }
  });

  it('pages that end early, because few messages fit, together find all (§4.3/search)', async () => {
    const { team, number } = await newSender();
    const many = Array.from({ length: 2 * searchMessagesMax }, (_, n) => ({
      content: n % 2 === 0 ? 'red paper' : 'blue paper',
      contact: '+14155550101',
    }));
    const [oldest] = await putTexts(
      service,
      number,
      [{ ...many[0], content: 'red and blue', contact: '+14155550102' }, ...many],
      hourAgo(),
    );
    for (const isSigned of [false, true]) {
      if (isSigned) for (let round = 0; round < 20; round += 1) await signer.run();
      const first = await search(team.api, 'red blue');
      assert.deepEqual([first.messages, first.has_more], [[], true]);
      assert.deepEqual(await walkAll(team.api, 'red blue'), [oldest], `signed: ${isSigned}`);
      assert.deepEqual(await walkAll(team.api, '0102'), [oldest]);
    }
    assert.ok((await signed(team.id)) > 30);
    assert.equal((await search(team.api, '0102')).has_more, false);
  });

  it('a search finds no message of another team, whatever it asks for (§7.2/other-teams)', async () => {
    const { team, number } = await newSender();
    await putTexts(service, number, texts(300), hourAgo());
    await signer.run();
    for (const q of [canaryMark, 'outbound', '0197', 'inbound'])
      assert.deepEqual((await search(team.api, q)).messages, []);
  });

  it('a message that commits late, with an id before signed ones, is found', async (t) => {
    const { team, number } = await newSender();
    const atMs = service.clock.nowMs();
    const late = await holdTexts(service, number, [{ content: 'late', contact: '+14155550101' }], atMs);
    t.after(late.release);
    await putTexts(service, number, texts(600), atMs + 1);
    service.clock.advance(hourMs);
    await signer.run();
    assert.equal(await signed(team.id), 0);
    await late.release();
    await signer.run();
    assert.ok((await signed(team.id)) > 1);
    assert.equal((await search(team.api, 'late')).messages.length, 1);
  });

  it('messages of a time to which the clock stepped back are found', async () => {
    const { team, number } = await newSender();
    await putTexts(service, number, texts(600), service.clock.nowMs() - 100_000);
    await signer.run();
    assert.ok((await signed(team.id)) > 1);
    service.clock.jump(-hourMs);
    await putTexts(service, number, [{ content: 'earlier', contact: '+14155550101' }], service.clock.nowMs());
    await signer.run();
    assert.equal(await signed(team.id), 0);
    service.clock.jump(hourMs);
    await signer.run();
    assert.ok((await signed(team.id)) > 1);
    assert.equal((await search(team.api, 'earlier')).messages.length, 1);
  });

  it('an erasure empties the signatures of its messages at once, and they are signed again without its words (§12.14/erased-search)', async () => {
    const { team, number } = await newSender();
    const secret = { content: 'extraordinary secret', contact: '+14155550101' };
    await putTexts(service, number, [...texts(300), secret, ...texts(600)], hourAgo());
    await signer.run();
    const before = await storedSegments(service, team.id);
    assert.equal((await search(team.api, 'extraordinary')).messages.length, 1);
    const owner = await newMember(service, team, 'owner');
    const erased = await owner.post(owner.in('/erasures'), { contact: secret.contact });
    assert.equal(erased.json.status, 'erased');
    const empty = await storedSegments(service, team.id);
    assert.deepEqual(
      empty.map(({ signature }) => signature.length > 0),
      before.map((_, n) => n !== 1),
    );
    for (const q of ['extraordinary', '0101']) assert.deepEqual((await search(team.api, q)).messages, []);
    const thanks = await walkAll(team.api, 'thanks');
    await signer.run();
    const after = await storedSegments(service, team.id);
    assert.ok((after[1]?.signature.length ?? 0) > 0);
    assert.notDeepEqual(after[1]?.signature, before[1]?.signature);
    assert.deepEqual(await walkAll(team.api, 'thanks'), thanks);
  });

  it('no message is signed while its text is erased', async () => {
    const { team, number } = await newSender();
    await putTexts(service, number, texts(600), hourAgo());
    await service.runtime.database.transaction(async (trx) => {
      await lockToErase(trx, { teamId: team.id });
      await signer.run();
      assert.equal(await signed(team.id), 0);
    });
    await signer.run();
    assert.ok((await signed(team.id)) > 1);
  });

  it('a segment goes with its last message (§10.9/retention-days)', async () => {
    const { team, number } = await newSender();
    const atMs = hourAgo();
    await putTexts(service, number, texts(1_024), atMs);
    await signer.run();
    const [first, second] = await storedSegments(service, team.id);
    assert.ok(first && second);
    const ranges = (await storedSegments(service, team.id)).length;
    await purgeHistory(
      service,
      {
        ...messageHistory,
        lock: (trx, range, ...rest) => messageHistory.lock(trx, { ...range, to: first.last }, ...rest),
      },
      firstIdAt(atMs),
    );
    assert.equal(await signed(team.id), ranges);
    while ((await purgeHistory(service, messageHistory)) > 0);
    assert.equal(await signed(team.id), 0);
  });
});
