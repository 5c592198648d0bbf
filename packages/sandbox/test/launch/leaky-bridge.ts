/** A bridge that was started with a descriptor of `/` open: prints what a command in its sandbox makes of it. */
import { text } from 'node:stream/consumers';
import { realConfinement } from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';

const { surroundings, command, isHeld } = JSON.parse(await text(process.stdin));
using confinement = await realConfinement(surroundings, { isHeld });
const conversationId = 'conv_test';
const request = { command, cwd: surroundings.workspace, permissions: [], conversationId };
const { output } = await confinement.start(request, ({ launch }) => run(launch));
process.stdout.write(output);
