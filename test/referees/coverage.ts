interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface Coverage {
  readonly documented: number;
  readonly met: number;
  /** Documented answers of 2xx that no test got. */
  readonly successesNotMet: readonly string[];
}

/** Finds the documented answers that a run got. @param seen method, address and status, as in `GET /v1/numbers 200` */
export function coverageOf(document: string, seen: ReadonlySet<string>): Coverage {
  const { paths } = JSON.parse(document) as Document;
  const answers = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );
  const isMet = (answer: string) => {
    const form = new RegExp(`^${answer.replaceAll(/\{\w+\}/g, '[^/ ]+')}$`);
    return seen.values().some((one) => form.test(one));
  };
  const notMet = answers.filter((answer) => !isMet(answer));
  return {
    documented: answers.length,
    met: answers.length - notMet.length,
    successesNotMet: notMet.filter((answer) => / 2\d\d$/.test(answer)),
  };
}
