/** About how many minutes a person needs to set up an iPhone, by the form of its shortcuts (contract/setup.ts). */
export const setupMinutes = { 27: 15, 26: 30 } as const;
