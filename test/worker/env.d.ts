// Gives `env` of cloudflare:test the Worker's own bindings.
declare namespace Cloudflare {
  interface Env extends Omit<import('../../worker/env.ts').Env, never> {}
}
