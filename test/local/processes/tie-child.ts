/** Starts a child that knows nothing of it, ties it to itself and prints its pid. */
import { spawn } from 'node:child_process';
import { tieToUs } from '../../../machine/lifeline.ts';

const child = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true });
tieToUs(child);
process.stdout.write(`${child.pid}\n`);
