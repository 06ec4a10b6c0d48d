/*
 * Limits of requests (specification sections 7.1 and 8).
 */

/** The body of an ordinary request. A URL of 2,048 characters fits, however it is escaped. */
export const bodyMaxBytes = 16 * 1_024;

/** The body of a message: 5,000 characters fit, each escaped as a surrogate pair, and so does a URL. */
export const messageBodyMaxBytes = 128 * 1_024;

/** The maximum depth of JSON; our bodies nest four levels at most. */
export const jsonDepthMax = 32;

/** Colons, commas and opening brackets outside of strings; our largest body has some twenty. */
export const jsonValuesMax = 1_000;

/** Longer paths lead to no route: the router would decode 15,000 escaped characters in 0.2 ms. */
export const pathMaxCharacters = 4_096;

/** Longer query strings, and more parameters, are not parsed: 16 KB of them take 4 ms. No operation needs as much. */
export const queryMaxCharacters = 4_096;

export const queryParametersMax = 50;

/** Our forms have ten fields at most; parsing thousands takes milliseconds. */
export const formFieldsMax = 50;

/** Requests that may wait on a connection. No client in use pipelines as many. */
export const pipelinedRequestsMax = 32;

/** Listening sockets of a process: so many connections are accepted in an iteration of the event loop. */
export const listenersMax = 16;

/** How long a response may take to its client before the connection is closed with an unread body. */
export const delayedCloseMs = 2_000;

/** Connections that linger at a time; the kernel keeps some 100 KB of unread bytes for each. */
export const delayedClosesMax = 256;

/** Drain of a refused request's body (drain-body.ts): bytes at most, and its time-out below. */
export const drainMaxBytes = 64 * 1_024;

export const drainTimeoutMs = 10_000;

/** A socket that takes fewer bytes a second over this time, while bytes wait for it, is disconnected. */
export const slowReaderBytesPerSecondMin = 1_024;

export const slowReaderMs = 30_000;

export const slowReaderCheckMs = 2_000;

/**
 * A stop waits this long for incomplete requests, once every other one is answered. It is at least as
 * long as a lingering close.
 */
export const stopIncompleteRequestMs = 2_000;

/**
 * A stop waits for clients that read their answers: up to this time in all, and up to the second one without progress.
 */
export const stopFlushMs = 5_000;

export const stopStalledMs = 2_000;
