/**
 * Maximum bytes of the body of a contact: name, note and ten handles of 320 characters fit, each character escaped as a
 * surrogate pair.
 */
export const contactBodyMaxBytes = 128 * 1_024;
