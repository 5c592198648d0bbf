/** Checks over the network: the Drawbridge that answers here, the way to it, and the servers of the models. */
import { openServerSettings, readSettings } from '../../local/config/settings.ts';
import { type ModelSettings, modelVariables } from '../../local/settings.ts';
import {
  DEFAULT_DIALECT,
  type ModelDialect,
  PROVIDERS,
  serverOf,
} from '../../shared/settings/dialects.ts';
import { parseModelTable } from '../../shared/settings/models.ts';
import { CLI_LIMITS } from '../limits.ts';
import type { Target } from '../target/target.ts';
import { certificateAdvice } from '../terminal/failure-text.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { bad, type CheckResult, good, note } from './finding.ts';
import { SET_CLOCK } from './machine-checks.ts';

/** Whether the API answers, takes the token, shares our time, and whether streams come through as they are sent. */
export async function checkServer(
  { url, token }: Pick<Target, 'url' | 'token'>,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await ask(`${url.replace(/\/+$/, '')}/api/v1/me`, headers, signal);
  if ('failure' in answer) {
    const advice = 'Check the address, the network and the proxy in front of it.';
    const { failure } = answer;
    return [bad('server', `${url} does not answer: ${failure}.`, adviceOn(failure) ?? advice)];
  }
  const findings = [good('server', `${url} answers.`), ...checkDate(url, answer.date)];
  if (answer.status === 401) {
    return [...findings, bad('token', `${url} does not take the token.`, newToken())];
  }
  if (answer.status !== 200) {
    const advice = 'Is this the address of a Drawbridge? Its log says more.';
    return [...findings, bad('server', `GET /api/v1/me gave ${answer.status}.`, advice)];
  }
  return [...findings, good('token', 'It is taken.'), await checkStream(url, headers, signal)];
}

const newToken = () =>
  `It has expired, or is for another server: \`${ownCommand('token')}\` makes a new one. A clock that is wrong by minutes does this too.`;

/** A proxy that buffers gives the events of a stream all at once, when the stream ends. */
async function checkStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/health/stream`, { headers, signal });
    const arrivals: number[] = [];
    for await (const _ of response.body ?? []) arrivals.push(performance.now());
    const spreadMs = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0);
    if (spreadMs >= CLI_LIMITS.streamSpreadMs)
      return good('streams', 'Events arrive without delay.');
    return bad('streams', `Something between here and ${url} buffers streams.`, UNBUFFERED);
  } catch (error) {
    return bad('streams', `The test stream was cut off: ${reasonOf(error)}.`, UNBUFFERED);
  }
}

const UNBUFFERED =
  'Switch off buffering and compression for it in the proxy: nginx `proxy_buffering off; gzip off;`, Caddy `flush_interval -1`.';

/** Whether each model server can be reached and takes its key. Reads keys as a start of the server does. */
export async function checkModels(signal: AbortSignal): Promise<CheckResult[]> {
  const warnings: CheckResult[] = [];
  const warn = (line: string) => void warnings.push(note('settings', line));
  const { model } = await openServerSettings(await readSettings(), warn, signal);
  const servers = serversOf(model);
  const found = await Promise.all(servers.map((server) => checkModelServer(server, signal)));
  return [...warnings, ...found.flat()];
}

interface ModelServer {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

function serversOf(model: ModelSettings): ModelServer[] {
  const variables = modelVariables(model);
  const { OPENAI_BASE_URL, MODELS } = variables;
  const servers = new Map<string, ModelServer>();
  const add = (dialect: ModelDialect, baseUrl: string, keyName = '') => {
    const headers = PROVIDERS[dialect].headers(variables[keyName] ?? null);
    servers.set(`${baseUrl} ${JSON.stringify(headers)}`, { baseUrl, headers });
  };
  if (OPENAI_BASE_URL) add(DEFAULT_DIALECT, OPENAI_BASE_URL, 'OPENAI_API_KEY');
  for (const entry of MODELS ? parseModelTable(MODELS) : []) {
    const { baseUrl, keyName } = serverOf(entry, variables);
    add(entry.dialect, baseUrl, keyName);
  }
  return [...servers.values()];
}

async function checkModelServer(
  { baseUrl, headers }: ModelServer,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const name = new URL(baseUrl).origin; // Without a user's name and password.
  const answer = await ask(`${baseUrl.replace(/\/+$/, '')}/models`, headers, signal);
  if ('failure' in answer) {
    const { failure } = answer;
    const advice = adviceOn(failure) ?? 'Is the server running?';
    return [bad('model', `${name} does not answer: ${failure}.`, advice)];
  }
  const { status, date } = answer;
  const findings = checkDate(name, date);
  if (status === 401 || status === 403) {
    const advice = 'Check the key that config.json or the environment names.';
    return [...findings, bad('model', `${name} refuses the key (${status}).`, advice)];
  }
  const says = status === 200 ? 'answers' : `answers, but lists no models (${status})`;
  return [...findings, good('model', `${name} ${says}.`)];
}

/** For a certificate that is refused. A clock that is years off makes every one invalid, before a server shows its own time. */
function adviceOn(failure: string): string | undefined {
  if (!/^CERT_(NOT_YET_VALID|HAS_EXPIRED)$/.test(failure)) return certificateAdvice(failure);
  const time = new Date(Date.now()).toISOString();
  return `The certificate is not valid at the time of this machine's clock, ${time}. ${SET_CLOCK}`;
}

/** Two clocks that differ by minutes make tokens expire early, or not be valid yet. */
function checkDate(name: string, date: number): CheckResult[] {
  const offMs = Date.now() - date;
  if (Number.isNaN(offMs) || Math.abs(offMs) < CLI_LIMITS.clockSlackMs) return [];
  const [here, there] = [Date.now(), date].map((time) => new Date(time).toISOString());
  return [bad('clock', `It shows ${here}, but ${name} says ${there}.`, SET_CLOCK)];
}

type ServerAnswer =
  | { readonly status: number; readonly date: number }
  | { readonly failure: string };

async function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  try {
    const response = await fetch(url, { headers, signal, redirect: 'manual' });
    await response.body?.cancel();
    return { status: response.status, date: Date.parse(response.headers.get('date') ?? '') };
  } catch (error) {
    return { failure: reasonOf(error) };
  }
}

/** undici hides the reason of a failed request in its cause. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = Object(error);
  return String(Object(cause).code ?? Object(cause).message ?? Object(error).message ?? error);
}
