/** Minutes that a person needs for the setup of an iPhone by the steps of its setup page. */
export const setupMinutes = 45;
