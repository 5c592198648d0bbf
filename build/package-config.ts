/** Makes the package's `wrangler.toml` of the repository's. */

/** What differs in the package: its Worker is built, and it has no scripts. Each text is there exactly once. */
const CHANGES: readonly (readonly [text: string, inPackage: string])[] = [
  [
    '# Describes the deployed Worker. `npm start` runs the same sources on plain workerd (local/runtime/runtime.ts).\n',
    '# Deploys the Worker beside this file: `npx wrangler deploy`. To keep settings, copy this folder and edit the copy.\n',
  ],
  ['main = ".build/deploy/worker.js"\n', 'main = "worker.js"\n'],
  ['directory = ".build/deploy/page"\n', 'directory = "page"\n'],
  [
    `# Installs the packages, which a fresh clone does not have, and bundles the Worker (build/worker.ts).
[build]
command = "npm run build:worker"

`,
    '',
  ],
];

/** @throws if a part of the repository's file is not there as {@link CHANGES} expects it. */
export function packageConfig(toml: string): string {
  return CHANGES.reduce((text, [old, inPackage]) => {
    const parts = text.split(old);
    if (parts.length !== 2) throw new Error(`wrangler.toml does not have once: ${old}`);
    return parts.join(inPackage);
  }, toml);
}
