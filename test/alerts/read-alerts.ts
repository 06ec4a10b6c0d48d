import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';

export interface Alert {
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: string;
  readonly summary: string;
  readonly runbook: string;
}

/** Matches the lines of an alert rule in their order. Rules use no other YAML, so the file needs no YAML parser. */
const rule = new RegExp(
  [
    '      - alert: (?<name>Ownline[A-Za-z]+)',
    "        expr: '(?<expr>.*)'",
    '        for: (?<for>\\d+[mh])',
    '        labels:',
    '          severity: (?<severity>critical|warning|info)',
    '        annotations:',
    "          summary: '(?<summary>.*)'",
    '          runbook: (?<runbook>\\S+)\\n',
  ].join('\\n'),
  'y',
);

/** Reads deploy/prometheus/ownline.rules.yml. @throws if a rule has other lines */
export function readAlerts(): Alert[] {
  const text = readFileSync(join(repository, 'deploy/prometheus/ownline.rules.yml'), 'utf8');
  const head = /^(?:#.*\n)*groups:\n {2}- name: ownline\n {4}rules:\n/.exec(text);
  if (!head) throw new Error('the file of alert rules does not begin as expected');
  const alerts: Alert[] = [];
  let at = head[0].length;
  while (at < text.length) {
    rule.lastIndex = at;
    const found = rule.exec(text);
    if (!found?.groups)
      throw new Error(`an alert rule has another form than the others: ${text.slice(at, at + 300)}`);
    alerts.push(found.groups as unknown as Alert);
    at = rule.lastIndex;
  }
  return alerts;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
}

export function readBoard(): Board {
  return JSON.parse(readFileSync(join(repository, 'deploy/grafana/ownline.json'), 'utf8'));
}

/** A metric in an expression, with the labels that the expression selects or groups by. */
export interface MetricUse {
  readonly metric: string;
  /** Labels with a fixed value, as in `state="offline"`. */
  readonly fixed: readonly string[];
}

/** The metrics of Ownline and Node.js in a PromQL expression. */
export function metricsIn(expr: string): MetricUse[] {
  return [...expr.matchAll(/\b((?:ownline|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', selector = '']) => ({
      metric,
      fixed: [...selector.matchAll(/(\w+="[^"]*")/g)]
        .map(([, pair = '']) => pair)
        .filter((pair) => !pair.startsWith('job=')),
    }),
  );
}
