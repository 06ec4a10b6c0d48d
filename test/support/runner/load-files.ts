import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

// The entry of a process of tests: loads its files, which node:test runs one after the other. Node itself would forget an
// error of a file that registered a test before it, and take the names of files for patterns.
const files: readonly string[] = JSON.parse(process.env.TEST_FILES ?? '[]');

for (const file of files) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    test(`${file} does not load`, () => {
      throw error;
    });
  }
}
