/** The pacing of a number that has no settings of its own, under PACING=gentle. */
export const gentlePacing = {
  mode: 'gentle',
  gap_min_seconds: 2,
  gap_max_seconds: 5,
  messages_per_hour: 100,
  messages_per_day: 300,
  new_contacts_per_hour: 15,
  new_contacts_per_day: 50,
  unanswered_per_contact: 5,
};
export const pacingOff = { pacing: { ...gentlePacing, mode: 'off', set_by_number: [] }, pacing_warnings: [] };
