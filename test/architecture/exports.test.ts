import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readImports, readSources } from '#test/support/architecture/sources.ts';
import { assertNone } from '#test/support/service/assert-each.ts';

const exportedValue = /^export (?:async )?(?:const|let|class|function\*?) (\w+)/gm;

describe('the rule for exports (docs/architecture.md)', () => {
  it('every exported function, class and constant is imported by another file', () => {
    const exporting = [
      ...readSources('{contract,server,shortcut,simulated-phone,webhook-listener}/**/*.ts'),
      ...readSources('web/{*,!(dist|node_modules)/**/*}.{ts,tsx}'),
    ];
    const imported = new Set(
      [...exporting, ...readSources('{test,bench,campaign}/**/*.ts')].flatMap((file) =>
        readImports(file).map(({ path, name }) => `${path}: ${name}`),
      ),
    );
    const values = exporting.flatMap(({ path, text }) =>
      [...text.matchAll(exportedValue)].map(([, name]) => `${path}: ${name}`),
    );
    assert.ok(values.length > 1_500);
    assertNone(values, (value) => !imported.has(value));
  });
});
