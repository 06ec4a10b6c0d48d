import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

// Entry of a test process: loads its files, which node:test runs one after the other.
// Node itself would miss an error of a file after its first test, and read file names as patterns.
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
