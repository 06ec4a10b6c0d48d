/** Changes of a migration that break processes of the previous release, which read and write during the upgrade. */
const contracting: readonly (readonly [string, RegExp])[] = [
  ['drops a table', /\bDROP TABLE\b/],
  ['drops a column', /^DROP (COLUMN )?(?!CONSTRAINT\b)(IF EXISTS )?\w+( CASCADE)?$/],
  ['renames', /^(ALTER \w+ \w+ )?RENAME\b/],
  ['changes a type', /^ALTER (COLUMN )?\w+ (SET DATA )?TYPE\b/],
  ['forbids NULL', /\bSET NOT NULL\b/],
  [
    'adds a column that has to be written',
    /^ADD (?!CONSTRAINT\b)(?!.*\b(DEFAULT|GENERATED)\b).*\bNOT NULL\b/,
  ],
];

/** Matches the comment before such a statement. It names the release that stopped using the removed thing. */
const reason = /^-- contract: .*\b\d+\.\d+\.\d+\b/m;

/**
 * Finds statements that break the previous release (docs/decisions/0003-sql-by-hand.md).
 * Changes of tables that the same migration creates do not count; functions are replaced as a whole.
 * @returns sentences such as `drops a column: ALTER TABLE hand_outs DROP COLUMN number_id`
 */
export function breaksPreviousRelease(sql: string): string[] {
  const text = sql
    .replaceAll(/CREATE (?:OR REPLACE )?FUNCTION[\s\S]*?\$(\w*)\$[\s\S]*?\$\1\$/g, '')
    .replaceAll(/--(?! contract:).*$/gm, '');
  const own = new Set([...text.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map(([, table]) => table));
  return text.split(';').flatMap((part) => {
    const statement = part.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
    const altered = /ALTER TABLE (?:IF EXISTS )?(?:ONLY )?([\w%]+) (.*)$/.exec(statement);
    if (reason.test(part) || own.has(altered?.[1])) return [];
    const actions = altered ? actionsOf(altered[2] ?? '') : [statement];
    return contracting
      .filter(([, pattern]) => actions.some((action) => pattern.test(action)))
      .map(([what]) => `${what}: ${statement}`);
  });
}

/** Splits the text of one ALTER TABLE into its actions, at commas outside of parentheses. */
function actionsOf(text: string): string[] {
  let depth = 0;
  const actions = [''];
  for (const character of text) {
    depth += Number(character === '(') - Number(character === ')');
    if (character === ',' && depth === 0) actions.push('');
    else actions[actions.length - 1] += character;
  }
  return actions.map((action) => action.trim());
}
