/** A bridge that runs one command in its sandbox, passes its output on, and waits to be killed. */
import { text } from 'node:stream/consumers';
import { probeConfinement } from '../../proof/confine.ts';
import { RunningCommand } from '../../terminal/running-command.ts';

const { surroundings, command } = JSON.parse(await text(process.stdin));
const confinement = await probeConfinement(surroundings);
const conversationId = 'conv_test';
const request = { command, cwd: surroundings.workspace, permissions: [], conversationId };
await confinement.start(request, async ({ launch }) => {
  new RunningCommand(launch, (output) => process.stdout.write(output));
});
