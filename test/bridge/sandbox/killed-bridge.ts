/** A bridge that runs one command, passes its output on, and waits to be killed. */
import { text } from 'node:stream/consumers';
import { RunningCommand } from '../../../bridge/terminal/running-command.ts';

const { inputs, ...launch } = JSON.parse(await text(process.stdin));
const bytes = inputs.map((input: number[]) => Uint8Array.from(input));
new RunningCommand({ ...launch, inputs: bytes }, (output) => process.stdout.write(output));
