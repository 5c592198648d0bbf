import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { pack, ROOT } from './pack.ts';

test('the package deploys its Worker as it is', async () => {
  const installed = await unpack(temporaryFolder());
  const config = join(installed, 'dist', 'worker', 'wrangler.toml');
  const printed = deployDry(temporaryFolder(), ['--config', config]);
  expect(printed).toContain('env.CONVERSATIONS (Conversation)');
});

test('the package deploys as a part of a Worker of your own, with types', async () => {
  const own = temporaryFolder();
  const installed = join(own, 'node_modules', 'drawbridge-agent');
  mkdirSync(join(own, 'node_modules'));
  cpSync(await unpack(temporaryFolder()), installed, { recursive: true });
  writeFileSync(join(own, 'index.ts'), OWN_WORKER);
  const config = readFileSync(join(installed, 'dist', 'worker', 'wrangler.toml'), 'utf8');
  const ours = config
    .replace('"worker.js"\nno_bundle = true', '"index.ts"')
    .replace('"page"', '"node_modules/drawbridge-agent/dist/worker/page"');
  writeFileSync(join(own, 'wrangler.toml'), ours);
  writeFileSync(join(own, 'tsconfig.json'), JSON.stringify(OWN_CONFIG));
  run('tsc', ['-p', own], own);
  expect(deployDry(own, [])).toContain('env.CONVERSATIONS (Conversation)');
});

/** The package's folder in `folder`. */
async function unpack(folder: string): Promise<string> {
  const { tarball } = await pack(ROOT, folder);
  execFileSync('tar', ['-xf', tarball, '-C', folder]);
  return join(folder, 'package');
}

const OWN_WORKER = `
import drawbridge, { type Env } from 'drawbridge-agent/worker';
export { Account, Conversation, Directory, Tunnel } from 'drawbridge-agent/worker';
export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === '/own' ? new Response('own') : drawbridge.fetch(request, env, context),
} satisfies ExportedHandler<Env>;
`;

const OWN_CONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024'],
    types: [join(ROOT, 'node_modules', '@cloudflare', 'workers-types')],
  },
  files: ['index.ts'],
};

function deployDry(cwd: string, args: readonly string[]): string {
  return run('wrangler', ['deploy', '--dry-run', '--outdir', join(cwd, 'out'), ...args], cwd);
}

/** Runs a program of our dependencies on our Node. Throws with its output if it fails. */
function run(program: string, args: readonly string[], cwd: string): string {
  const path = join(ROOT, 'node_modules', '.bin', program);
  return execFileSync(process.execPath, [path, ...args], { cwd, encoding: 'utf8' });
}
