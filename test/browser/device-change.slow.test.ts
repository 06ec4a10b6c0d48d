import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepPicture, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';

describe('the warning that an iPhone changed, in a browser (specification section 12.12)', () => {
  const opened = givenBrowserTeam();

  for (const look of looks) {
    it(`${nameOfLook(look)}: an iPhone that reports another name causes a warning (§12.12/page-numbers, §4.7/device-change)`, async () => {
      const team = await opened.service.newTeam();
      const owner = await newMember(opened.service, team, 'owner');
      const { service } = opened;
      const { numberId, wire } = await connectNumber(service, team);
      const takeover = async (fields: Readonly<Record<string, string>>) => {
        service.clock.advance(10 * 60_000);
        wire.session = 'new';
        await wire.poll(fields);
      };
      await takeover({ device_name: 'Anna’s iPhone', os: '18.1' });
      await takeover({ device_name: 'Anna’s iPhone', os: '18.2' });
      const { page, complaints } = await openWatchedDashboard(
        opened.browser,
        owner,
        `/numbers/${numberId}`,
        look,
      );
      await page.getByText('iOS was probably updated').waitFor();
      await takeover({ device_name: 'Ben’s iPhone', os: '17.4' });
      await page.reload();
      await page.getByText('Another iPhone may send for this number').waitFor();
      await page.getByText('calls itself “Ben’s iPhone” now, with iOS 17.4 instead of 18.2').waitFor();
      await keepPicture(page, `dashboard-numbers-device-change-${nameOfLook(look)}`);
      assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      const viewer = await newMember(service, team, 'viewer');
      const watched = await openWatchedDashboard(opened.browser, viewer, `/numbers/${numberId}`, look);
      await watched.page.getByText('to look into it').waitFor();
      assert.deepEqual([complaints, watched.complaints], [[], []]);
      await page.context().close();
      await watched.page.context().close();
    });
  }
});
