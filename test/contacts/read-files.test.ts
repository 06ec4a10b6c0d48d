import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FilePerson, readCsv } from '#server/contacts/read-csv.ts';
import { readVCards } from '#server/contacts/read-vcards.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

/** A person in short: its line, name, handles and note; or its line with the reason. */
const short = (person: FilePerson) =>
  'reason' in person
    ? [person.line, person.reason]
    : [person.line, person.name, person.handles.join(' '), person.note];

describe('files of people, as address books export them (specification section 4.8)', () => {
  /** Each file with the people that are read: rows of `readCsv`. */
  const files: readonly (readonly [what: string, text: string, people: readonly unknown[][]])[] = [
    [
      'a plain file',
      'name,phone,email,note\nAda Example,+14155550101,ada@example.com,Mornings\n\nGrace,,grace@example.com,\n',
      [
        [2, 'Ada Example', '+14155550101 ada@example.com', 'Mornings'],
        [4, 'Grace', 'grace@example.com', ''],
      ],
    ],
    [
      'quotes, line breaks and separators in cells, and CRLF',
      'Name;Phone;Notes\r\n"Example; ""Ada""";+14155550101;"two\r\nlines"\r\nGrace 5";+14155550102;x',
      [
        [2, 'Example; "Ada"', '+14155550101', 'two\r\nlines'],
        [4, 'Grace 5"', '+14155550102', 'x'],
      ],
    ],
    ['tabs', 'Name\tPhone\nAda, Example\t+14155550101', [[2, 'Ada, Example', '+14155550101', '']]],
    [
      'Google Contacts of 2024',
      'First Name,Middle Name,Last Name,Phonetic First Name,Name Prefix,Organization Name,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value\n' +
        'Ada,M.,Example,Eida,Dr.,Example Ltd,Hi,https://example.com/a.jpg,* myContacts,* Home,ada@example.com,Mobile,+1 415-555-0101 ::: +1 415-555-0102,Work Fax,\n' +
        ',,,,,Example Ltd,,,,,office@example.com,,,,\n',
      [
        [2, 'Ada M. Example', 'ada@example.com +1 415-555-0101 +1 415-555-0102', 'Hi'],
        [3, 'Example Ltd', 'office@example.com', ''],
      ],
    ],
    [
      'Google Contacts before',
      'Name,Given Name,Family Name,E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Type,Phone 1 - Value,Organization 1 - Name\nAda Example,Ada,Example,Home,ada@example.com,Mobile,+14155550101,Example Ltd\n',
      [[2, 'Ada Example', 'ada@example.com +14155550101', '']],
    ],
    [
      'Outlook',
      '"Title","First Name","Middle Name","Last Name","Company","Business Fax","Business Phone","Company Main Phone","Mobile Phone","E-mail Address","E-mail Type","E-mail Display Name","Notes"\n' +
        '"Dr.","Ada","","Example","Example Ltd","+14155550109","+14155550101","+14155550100","+14155550102","ada@example.com","SMTP","Ada (ada@example.com)","Hi"\n',
      [[2, 'Ada Example', '+14155550101 +14155550102 ada@example.com', 'Hi']],
    ],
    [
      'Outlook in German',
      'Anrede;Vorname;Weitere Vornamen;Nachname;Firma;Fax geschäftlich;Telefon geschäftlich;Mobiltelefon;E-Mail-Adresse;E-Mail-Typ;E-Mail: Anzeigename;Notizen\n' +
        'Frau;Ada;;Müller;Beispiel GmbH;030 1;030 1234567;0171 5550101;ada@example.com;SMTP;Ada Müller;Hallo\n',
      [[2, 'Ada Müller', '030 1234567 0171 5550101 ada@example.com', 'Hallo']],
    ],
    [
      'Outlook in Spanish',
      'Nombre,Segundo nombre,Apellidos,Organización,Teléfono móvil,Teléfono del trabajo,Dirección de correo electrónico,Notas\nAda,,Núñez,,612 345 678,,ada@example.com,Hola\n',
      [[2, 'Ada Núñez', '612 345 678 ada@example.com', 'Hola']],
    ],
    [
      'Thunderbird',
      'First Name,Last Name,Display Name,Nickname,Primary Email,Secondary Email,Work Phone,Fax Number,Mobile Number,Notes\nAda,Example,Ada Example,,ada@example.com,,+14155550101,+14155550109,,\n',
      [[2, 'Ada Example', 'ada@example.com +14155550101', '']],
    ],
    [
      'lines that can’t be read, each of which is left out alone',
      `Name,Phone\n"Ada,+14155550101\nGrace,+14155550102\nLong ${'x'.repeat(9_000)},1\n"Lin" Example,1\nMae,+14155550103`,
      [
        [2, 'The line has more than 8 KB, or a quote in it does not end.'],
        [3, 'Grace', '+14155550102', ''],
        [4, 'The line has more than 8 KB, or a quote in it does not end.'],
        [5, 'The line has more than 8 KB, or a quote in it does not end.'],
        [6, 'Mae', '+14155550103', ''],
      ],
    ],
  ];
  for (const [what, text, people] of files)
    it(`${what}: the people of a CSV file are read (§4.8/files)`, () => {
      assertEach([...readCsv(text)], short, people);
    });

  it('a CSV file whose first line names no column for handles is refused', () => {
    for (const text of ['', 'Ada,+14155550101\n', 'Name,Address\nAda,Example Street\n', '"Name,Phone'])
      assert.throws(() => [...readCsv(text)], /The first line of the file must name the columns/, text);
  });

  it('vCards of version 2.1, 3 and 4 are read, without photos and fax numbers (§4.8/files)', () => {
    const photo = Array.from({ length: 500 }, () => ` ${'A'.repeat(74)}`).join('\r\n');
    const text = [
      ...['BEGIN:VCARD', 'VERSION:3.0', 'PRODID:-//Apple Inc.//iPhone OS 27.0//EN', 'N:Example;Ada;M.;;'],
      ...['FN:Ada Example', 'ORG:Example\\, Ltd;', 'item1.EMAIL;type=INTERNET;type=pref:ada@example.com'],
      ...['TEL;type=CELL;type=VOICE:+1 (415) 555-0101', 'TEL;type=HOME,FAX:+1 415 555 0109'],
      ...['NOTE:Two\\nlines\\, and a long', '  line', `PHOTO;ENCODING=b;TYPE=JPEG:${'A'.repeat(60)}`, photo],
      ...['END:VCARD', 'begin:vcard', 'version:4.0', 'FN:Grace Hopper'],
      ...['TEL;VALUE=uri;PREF=1;TYPE="voice,cell":tel:+1-415-555-0102;ext=12', 'end:vcard'],
      ...['BEGIN:VCARD', 'VERSION:3.0', 'N:Hernández;José;;;', 'TEL:+34612345678', 'END:VCARD'],
      ...['BEGIN:VCARD', 'VERSION:4.0', 'ORG:Example Ltd', 'EMAIL:office@example.com', 'END:VCARD'],
      ...[
        'BEGIN:VCARD',
        'VERSION:2.1',
        'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4D=C3=BC=6C=6C=65=',
        '=72;=41=64=61;;;',
      ],
      ...['TEL;CELL;PREF:+4917155501234', 'NOTE;ENCODING=QUOTED-PRINTABLE:two=0D=0Alines', 'END:VCARD'],
      ...['BEGIN:VCARD', 'VERSION:3.0', 'FN:Long', `NOTE:${'x'.repeat(9_000)}`, 'END:VCARD'],
    ].join('\r\n');
    const begins = text.split('\r\n').flatMap((line, index) => (/^begin/i.test(line) ? [index + 1] : []));
    assertEach([...readVCards(text)], short, [
      [begins[0], 'Ada Example', 'ada@example.com +1 (415) 555-0101', 'Two\nlines, and a long line'],
      [begins[1], 'Grace Hopper', '+1-415-555-0102', ''],
      [begins[2], 'José Hernández', '+34612345678', ''],
      [begins[3], 'Example Ltd', 'office@example.com', ''],
      [begins[4], 'Ada Müller', '+4917155501234', 'two\r\nlines'],
      [begins[5], 'The line NOTE has more than 8 KB.'],
    ]);
    assert.throws(() => [...readVCards('Ada,+14155550101')], /The file has no vCard/);
  });

  it('a quoted line of 400,000 parts is left out, and costs no more than its length', () => {
    const parts = Array.from({ length: 400_000 }, () => 'aaaaaaaa=');
    const lines = ['BEGIN:VCARD', 'NOTE;ENCODING=QUOTED-PRINTABLE:a=', ...parts, 'a', 'FN:Ada', 'END:VCARD'];
    const startedMs = performance.now();
    assertEach([...readVCards(lines.join('\n'))], short, [[1, 'The line NOTE has more than 8 KB.']]);
    assert.ok(performance.now() - startedMs < 5_000);
  });
});
