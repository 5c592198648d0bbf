// Installs the locked dependencies if they are missing or older than the lock file. It runs before `npm start`,
// `npm test` and `npm run check`, on any Node that the machine has, so it is plain JavaScript.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** npm itself says nothing for minutes, where it has no terminal. */
const BETWEEN_LINES_MS = 10_000;
const modifiedMs = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (modifiedMs('node_modules/.package-lock.json') < modifiedMs('package-lock.json')) {
  requireWritable(root);
  if (existsSync(join(root, 'node_modules'))) requireWritable(join(root, 'node_modules'));
  process.stderr.write(
    'Installing the dependencies: 340 MB at the first run, which takes 1 to 2 minutes ...\n',
  );
  // npm writes its progress to stdout, which belongs to the user's command.
  // `install` follows the lock file like `ci`. Unlike `ci`, it does not fail if the file lacks another platform's
  // optional packages, and it does not empty node_modules under a running instance.
  // Without `--include`, an environment with NODE_ENV=production would get no bundler and no Node.
  const args = ['install', '--include=dev', '--no-save', '--loglevel=error', '--no-audit'];
  args.push('--no-fund', '--no-progress');
  const beganMs = Date.now();
  const sayTime = () => {
    const seconds = Math.round((Date.now() - beganMs) / 1000);
    process.stderr.write(`Installing the dependencies: ${seconds} s ...\n`);
  };
  const timer = setInterval(sayTime, BETWEEN_LINES_MS);
  const npm = spawn('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  try {
    const [code] = await once(npm, 'close');
    if (code !== 0)
      fail('npm install failed; see above. Fix the problem and run the command again.');
  } catch (error) {
    fail(`npm cannot be run (${error.code}): install it, or put it on the PATH.`);
  }
  clearInterval(timer);
}

/** npm would fail as well, in many lines. */
function requireWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const todo = 'run the command once as the owner of that folder, or make it writable for you';
    fail(
      `The dependencies must be installed, and you may not write to ${folder} (${error.code}): ${todo}.`,
    );
  }
}

function fail(text) {
  process.stderr.write(`drawbridge: ${text}\n`);
  process.exit(1);
}
