import { readFileSync } from 'node:fs';

/** An appointment in two days, as an iCalendar file. */
export function calendarEntry(now: Date): Buffer {
  const day = new Date(now.getTime() + 2 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Brightside Dental//Demo//EN',
    'BEGIN:VEVENT',
    `UID:${day}-1030@demo.example.com`,
    `DTSTAMP:${day}T000000Z`,
    `DTSTART:${day}T103000`,
    `DTEND:${day}T111500`,
    'SUMMARY:Brightside Dental, Dr. Chen',
    'LOCATION:200 Example Street',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

/** A picture of an insurance card. */
export function demoPicture(): { readonly bytes: Buffer; readonly name: string } {
  return { bytes: readFileSync(new URL('insurance-card.png', import.meta.url)), name: 'insurance-card.png' };
}
