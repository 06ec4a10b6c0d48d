/** How long a person needs to set up an iPhone by the steps of its setup page, in minutes. */
export const setupMinutes = 45;
