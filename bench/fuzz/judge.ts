/** Finds what is wrong with the answer to a fuzzed request. Pure. */
import { Checker, type Description, type Media } from './description.ts';
import type { FuzzRequest } from './requests.ts';

export interface FuzzAnswer {
  readonly status: number;
  /** The header's value; empty without the header. */
  readonly contentType: string;
  /** The body; for a stream only its beginning. */
  readonly text: string;
}

/** What no answer may contain: a stack, or a path of the code. */
const INSIDES =
  /\n\s+at \S|\bat \S+ \(|[\w/]+\.[cm]?[jt]s:\d+|node_modules|\/(work|tmp|home|root)\/\w/;

export class Judge {
  readonly #checker: Checker;
  readonly #wireError: Media['schema'] = { $ref: '#/components/schemas/WireError' };
  readonly #openAiFailure: Media['schema'] = { $ref: '#/components/schemas/OpenAiFailure' };

  constructor(description: Description) {
    this.#checker = new Checker(description);
  }

  /** Everything that is wrong with the answer. */
  problemsOf(request: FuzzRequest, answer: FuzzAnswer): string[] {
    const problems = [
      answer.status >= 500 ? `status ${answer.status}` : null,
      answer.status >= 400 && INSIDES.test(answer.text) ? 'it shows the insides' : null,
      request.isGood && answer.status >= 300 ? `a good request got ${answer.status}` : null,
      this.#undocumented(request, answer),
      answer.status >= 400 ? this.#badError(request, answer) : this.#badSuccess(request, answer),
    ];
    return problems.filter((problem) => problem !== null);
  }

  #undocumented({ operation }: FuzzRequest, { status }: FuzzAnswer): string | null {
    if (operation === null || operation.responses[status]) return null;
    return `status ${status} is not in the document`;
  }

  #badError({ method, path }: FuzzRequest, answer: FuzzAnswer): string | null {
    if (method === 'HEAD') return null;
    if (typeOf(answer) !== 'application/json') return `an error as ${answer.contentType}`;
    const isOpenAi = path === '/v1' || path.startsWith('/v1/');
    return this.#unfit(isOpenAi ? this.#openAiFailure : this.#wireError, answer);
  }

  #badSuccess({ operation }: FuzzRequest, answer: FuzzAnswer): string | null {
    const content = operation?.responses[answer.status]?.content;
    if (!content) return null;
    const media = content[typeOf(answer)];
    if (!media) return `a success as ${answer.contentType}`;
    return typeOf(answer) === 'application/json' ? this.#unfit(media.schema, answer) : null;
  }

  #unfit(schema: Media['schema'], { text }: FuzzAnswer): string | null {
    const json = parseJson(text);
    return json === undefined ? 'it is not JSON' : this.#checker.problemOf(schema, json);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function typeOf({ contentType }: FuzzAnswer): string {
  return contentType.replace(/;.*/, '');
}
