/** Notices new names with a dot at the top of a workspace: no table of the names that programs obey is complete. */

import { type BytePath, shownName } from '../../../machine/byte-path.ts';
import { words } from '../../../machine/words.ts';
import type { AttentionItem } from '../../../shared/wire/attention.ts';
import { closureOf } from '../../workspace/index.ts';
import { HeldFolder } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';

/** For one workspace. A name is reported once, ever. */
export class DotNames {
  readonly #workspace: BytePath;
  readonly #seen: Set<BytePath>;

  /** `seen` has what an earlier process stored. Undefined where none did: then everything that is there is the person's. */
  static async open(workspace: BytePath, seen: readonly BytePath[] | undefined): Promise<DotNames> {
    const names = new DotNames(workspace, seen ?? []);
    if (seen === undefined) await names.learn();
    return names;
  }

  private constructor(workspace: BytePath, seen: readonly BytePath[]) {
    this.#workspace = workspace;
    this.#seen = new Set(seen);
  }

  /** The names that are not news any more. */
  get seen(): BytePath[] {
    return [...this.#seen];
  }

  /** Takes every name that is there for the person's. */
  async learn(): Promise<void> {
    this.#remember(await this.#list());
  }

  /** What has come since, without what these items report already. */
  async news(reported: readonly AttentionItem[]): Promise<readonly AttentionItem[]> {
    const fresh = (await this.#list()).filter((name) => !this.#seen.has(name));
    this.#remember(fresh);
    const known = new Set(reported.map(({ name }) => name.split('/')[0]));
    return fresh
      .map((name) => ({ name: shownName(name), quarantined: false, what: WHAT }))
      .filter(({ name }) => !known.has(name));
  }

  /** The same for names that a call of a file tool has made. */
  async made(names: readonly BytePath[]): Promise<readonly AttentionItem[]> {
    const fresh = (await this.#list()).filter(
      (name) => names.includes(name) && !this.#seen.has(name),
    );
    this.#remember(fresh);
    return fresh.map((name) => ({ name: shownName(name), quarantined: false, what: WHAT }));
  }

  /** Names that {@link closureOf} knows are left to the look that handles them. */
  async #list(): Promise<BytePath[]> {
    await using folder = await HeldFolder.open(this.#workspace);
    const names = (await folder.list()).map(({ name }) => name);
    const isMeant = (name: BytePath) =>
      name.startsWith('.') && !SILENT.has(name) && !OURS.test(name) && closureOf(name) === null;
    return names.filter(isMeant).sort();
  }

  #remember(names: readonly BytePath[]): void {
    for (const name of names) {
      if (this.#seen.size >= QUARANTINE_LIMITS.maxDotNames) return;
      this.#seen.add(name);
    }
  }
}

/** What a write of a file tool has beside the file for a moment. */
const OURS = /^\.drawbridge-[-0-9a-f]{36}\.tmp$/;

const WHAT = ['a new name with a dot at the top, and some programs obey such names'];

/**
 * What builds, tests and package managers make there, and files that nothing obeys. A name inside that a program obeys
 * is found by the scan of the whole workspace. No name of it chooses what a program loads or which version of it runs.
 */
const SILENT: ReadonlySet<BytePath> = new Set(
  words(`
    .venv .virtualenv .tox .nox .eggs .ipynb_checkpoints .pytest_cache .mypy_cache .ruff_cache
    .hypothesis .coverage .pytype .pyre __pycache__ .benchmarks
    .next .nuxt .output .svelte-kit .astro .docusaurus .angular .vite .vitepress .parcel-cache
    .turbo .nx .rollup.cache .rpt2_cache .cache .eslintcache .stylelintcache .prettiercache
    .tsbuildinfo .nyc_output .vercel .netlify .wrangler .serverless .expo .metro-health-check
    .pnpm-store .yarn-integrity .build .gradle .kotlin
    .cxx .externalNativeBuild .dart_tool .flutter-plugins .flutter-plugins-dependencies .packages
    .stack-work .cabal-sandbox .elixir_ls .rebar3 .cpcache .clj-kondo
    .shadow-cljs .terraform .vagrant .sass-cache .jekyll-cache .temp .tmp .DS_Store
    .gitignore .gitkeep .keep .npmignore .nojekyll
  `),
);
