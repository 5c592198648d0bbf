/** `drawbridge ide trust`: takes back an editor's word that the person does not trust this folder. */
import { openState } from '../../../local/state/state.ts';
import { findLocation, type LocationOptions } from '../../target/location-options.ts';
import { askFirst } from '../../terminal/confirm.ts';
import { openTerminal } from '../../terminal/terminal.ts';

/** Asks always: only a person can say it. */
export async function trustWorkspace(options: LocationOptions): Promise<void> {
  const { Distrust } = await import('../../../bridge/admission/distrust.ts');
  const { projectDir } = await openState(await findLocation(options, 'kept'));
  const distrust = new Distrust(projectDir);
  const terminal = openTerminal(process, process.env);
  if (!distrust.isKept) return terminal.write('No editor reports this folder as untrusted.\n');
  terminal.write(`${CONSEQUENCE}\n`);
  await askFirst(terminal, 'Do you trust the files of this folder?', {
    unasked: 'run this command in a terminal of your own.',
    otherwise: 'Every call still asks.',
  });
  distrust.lift();
  terminal.write(
    'Your rules decide again, unless an editor reports the folder as untrusted again.\n',
  );
}

const CONSEQUENCE =
  'An editor reports this folder as untrusted, so every call of the agent asks. After a yes, your rules decide.';
