/* Limits of requests (specification sections 7.1 and 8). */

/** Maximum bytes of an ordinary request's body. A URL of 2,048 characters fits in any escaping. */
export const bodyMaxBytes = 16 * 1_024;

/** Maximum bytes of the body of a send. A URL and 5,000 characters fit, each escaped as a surrogate pair. */
export const messageBodyMaxBytes = 128 * 1_024;

/** Maximum depth of JSON; the API's bodies nest four levels at most. */
export const jsonDepthMax = 32;

/** Values of a JSON body, counted as colons, commas and opening brackets; the API's largest body has some twenty. */
export const jsonValuesMax = 1_000;

/** Longer paths match no route: the router would take 0.2 ms to decode 15,000 escaped characters. */
export const pathMaxCharacters = 4_096;

/** Longer query strings are not parsed: 16 KB take 4 ms, and no operation needs a longer query. */
export const queryMaxCharacters = 4_096;

export const queryParametersMax = 50;

/** Maximum number of fields of a form. Ownline's forms have ten at most; parsing thousands takes milliseconds. */
export const formFieldsMax = 50;

/** How many pipelined requests may wait on a connection; no known client pipelines as many. */
export const pipelinedRequestsMax = 32;

/** Maximum number of listening sockets of a process. Each accepts one connection per iteration of the event loop. */
export const listenersMax = 16;

/** Time from the answer until a connection with an unread body is closed. */
export const delayedCloseMs = 2_000;

/** How many connections may wait for a delayed close; the kernel keeps some 100 KB of unread bytes for each. */
export const delayedClosesMax = 256;

/** Maximum number of bytes of a refused request's body that are read and discarded. */
export const drainMaxBytes = 64 * 1_024;

export const drainTimeoutMs = 10_000;

/** A socket that has unsent bytes and takes fewer than this many a second, over `slowReaderMs`, is disconnected. */
export const slowReaderBytesPerSecondMin = 1_024;

export const slowReaderMs = 30_000;

export const slowReaderCheckMs = 2_000;

/**
 * Time for which a stop waits for incomplete requests after all others are answered; at least as long as a delayed
 * close.
 */
export const stopIncompleteRequestMs = 2_000;

/** Time for which a stop waits until clients have read their answers: in all, and without progress. */
export const stopFlushMs = 5_000;

export const stopStalledMs = 2_000;
