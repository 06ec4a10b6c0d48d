import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { repository } from '#test/support/processes/spawned-service.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { readAlerts, readBoard } from './read-alerts.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

describe('alerts and the Grafana board (docs/alerts.md)', () => {
  it('each alert has a section with severity, meaning and advice, and its runbook links to it', () => {
    const alerts = readAlerts();
    assert.ok(alerts.length > 15);
    const sections = read('docs/alerts.md').split(/^## /m).slice(1);
    assertEach(
      sections,
      (section) => section.split('\n')[0],
      alerts.map(({ name }) => name),
    );
    for (const [index, { name, severity, summary, runbook }] of alerts.entries()) {
      const section = sections[index] ?? '';
      assert.equal(runbook, `docs/alerts.md#${name.toLowerCase()}`);
      assert.ok(section.includes(`\n*${severity}.* ${summary.replaceAll("''", "'")}.\n`), name);
      assert.match(section, /\n\*\*Means:\*\* [\s\S]*\n\n\*\*Do:\*\* /, name);
    }
  });

  it('each alert has a promtool test in which the alert fires, and one in which it does not', () => {
    const tests = read('test/alerts/ownline.rules.test.yml');
    for (const { name } of readAlerts()) {
      assert.ok(tests.includes(`alertname: ${name}\n        exp_alerts: []`), name);
      assert.ok(tests.includes(`alertname: ${name}\n        exp_alerts:\n`), name);
    }
  });

  it('Grafana can import the board: ids are unique, panels do not overlap, and queries use the chosen source', () => {
    const { uid, schemaVersion, panels, templating } = readBoard();
    assert.deepEqual([uid, schemaVersion], ['ownline', 39]);
    assertEach(templating.list, ({ name, type }) => [name, type], [['datasource', 'datasource']]);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const taken = new Set<string>();
    for (const { title, type, gridPos, targets = [], datasource } of panels) {
      const { x, y, w, h } = gridPos;
      assert.ok(x + w <= 24, title);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          assert.ok(!taken.has(`${column} ${line}`), title);
          taken.add(`${column} ${line}`);
        }
      }
      assert.equal(targets.length > 0, type !== 'row', title);
      if (type !== 'row') assert.equal(datasource?.uid, '$' + '{datasource}', title);
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    }
  });
});
