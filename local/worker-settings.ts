/** Settings of the Worker that an instance passes on as the environment has them. */

/** Their names; wrangler.toml says what each is for. */
const NAMES = [
  'ALLOWED_ORIGINS',
  'TEXT_ONLY_MODELS',
  'RATE_LIMIT_REQUESTS_PER_MINUTE',
  'RATE_LIMIT_RUNS_PER_MINUTE',
] as const;

/** The variables the Worker reads, without those that are unset. */
export function readWorkerSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const entries = NAMES.map((name) => [name, env[name] ?? ''] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}
