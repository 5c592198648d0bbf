/** `npm run types`: checks every project, also where one before it has errors. */
import { spawnSync } from 'node:child_process';

const PROJECTS = ['shared', 'worker', 'cli', 'web', 'tsconfig.json'];

const results = PROJECTS.map((project) => spawnSync('tsc', ['-p', project], { stdio: 'inherit' }));
if (results.some(({ status }) => status !== 0)) process.exitCode = 1;
