/**
 * Maximum bytes of the body of a contact: name, note and ten handles of 320 characters fit, each character escaped as a
 * surrogate pair.
 */
export const contactBodyMaxBytes = 128 * 1_024;

/** Maximum bytes of a file that is imported. */
export const importMaxBytes = 5 * 1_024 * 1_024;

/** Maximum number of people in a file that is imported. */
export const importedPeopleMax = 10_000;

/** Handles of a person in a file, doubled and unreadable ones included; to normalize one takes some 15 µs. */
export const importedHandlesMax = 20;

/** Line ends of a file, so that no file keeps the event loop busy for long; cards of 5 MB with photos have some 70,000. */
export const cardLineEndsMax = 500_000;
export const csvLineEndsMax = 100_000;

/** Longer lines of a file that is imported are skipped. */
export const importLineMaxCharacters = 8_192;

/** How many people a transaction of an import writes, under the lock of the team. */
export const importBatchMax = 500;
