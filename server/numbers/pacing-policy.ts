import {
  type Pacing,
  type PacingMode,
  type PacingSetting,
  pacingLimitNames,
  pacingModes,
} from '#contract/pacing.ts';
import { invalid } from '#server/platform/app-error.ts';

/** The pacing that applies to a number: its mode and every limit. */
export type PacingPolicy = Omit<Pacing, 'set_by_number'>;

/** A number's own pacing settings; missing fields have the defaults. */
export type OwnPacing = Partial<PacingPolicy>;

/** The default limits of the pacing modes gentle and strict (specification section 8). */
const defaultLimits: Omit<PacingPolicy, 'mode'> = {
  gap_min_seconds: 2,
  gap_max_seconds: 5,
  messages_per_hour: 100,
  messages_per_day: 300,
  new_contacts_per_hour: 15,
  new_contacts_per_day: 50,
  unanswered_per_contact: 5,
};

/** The pacing of a number without own settings. @param mode the setting PACING */
export function defaultPacing(mode: PacingMode): PacingPolicy {
  return { mode, ...defaultLimits };
}

/**
 * The pacing that applies to a number. The claim of a message merges own settings and defaults in the same way in SQL.
 */
export function effectivePacing(mode: PacingMode, own: OwnPacing | null): PacingPolicy {
  return { ...defaultPacing(mode), ...own };
}

/**
 * Returns the fields of a setting that the database stores.
 * @throws AppError 400, param pacing, if the shortest gap exceeds the longest
 */
export function ownPacing(setting: PacingSetting | null): OwnPacing | null {
  if (setting === null) return null;
  const { mode, ...limits } = setting;
  const { gap_min_seconds: min, gap_max_seconds: max } = { ...defaultLimits, ...limits };
  if (min > max) {
    throw invalid(
      'pacing',
      `pacing.gap_max_seconds, ${max}, must be at least pacing.gap_min_seconds, ${min}. Send both.`,
    );
  }
  const own = pacingModes.find((known) => known === mode);
  const stored = { ...(own && { mode: own }), ...limits };
  return Object.keys(stored).length === 0 ? null : stored;
}

/** The pacing as GET /v1/numbers/:id shows it. */
export function pacingView(mode: PacingMode, own: OwnPacing | null): Pacing {
  const names = ['mode', ...pacingLimitNames] as const;
  return {
    ...effectivePacing(mode, own),
    set_by_number: names.filter((name) => own?.[name] !== undefined),
  };
}
