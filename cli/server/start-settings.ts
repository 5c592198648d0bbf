/** What a terminal gives the server that it starts: settings, keys of models, and the environment of bridges. */
import * as z from 'zod';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { openServerSettings, readSettings, runsKeyCommands } from '../../local/config/settings.ts';
import { type ModelSettings, modelKeyNames } from '../../local/settings.ts';
import { chooseModel } from '../config/choose-model.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';

/** Travels to the background server over a pipe: keys are on no disk and in no environment. */
export const StartSettings = z.object({
  port: z.int(),
  /** Made by this program, so only its kind is checked. */
  model: z.custom<ModelSettings>((value) => typeof value === 'object' && value !== null),
  workerSettings: z.record(z.string(), z.string()),
  /** Of bridges that come back with the server. */
  environment: z.record(z.string(), z.string()),
  /** The variables that hold keys of models. */
  keyNames: z.array(z.string()),
});
export type StartSettings = z.infer<typeof StartSettings>;

export interface StartOptions {
  readonly port?: number | undefined;
  /** Whether stdout is for a program: no person is asked then. */
  readonly json?: boolean;
  /** Of the command, where it has one: two keyboards would share what is typed. */
  readonly terminal?: Terminal;
  /** False where the folder's server is elsewhere: it has its own models, so no person is asked for one. */
  readonly asksModel?: boolean;
}

/**
 * Reads the settings of this terminal. Where nothing says which model answers, a person is asked once; a command that
 * prints a key may ask, too.
 * @throws {LocalError} if a setting is wrong, or a key cannot be had. @throws {Interrupted} at Ctrl-C.
 */
export async function readStartSettings(
  { port, json = false, terminal, asksModel = true }: StartOptions,
  onNotice: (line: string) => void,
  signal: AbortSignal,
): Promise<StartSettings> {
  let settings = await readSettings(process.env, { port });
  if (asksModel && !settings.isModelChosen) {
    const asked = terminal ?? openTerminal(process, process.env, { machine: json });
    await chooseModel(asked, process.env, signal);
    settings = await readSettings(process.env, { port });
  }
  const environment = bridgeEnvironment(process.env, settings.keyNames);
  // What is typed for such a command, as a passphrase, must become no message.
  using _ = runsKeyCommands(settings) ? terminal?.lend() : undefined;
  const served = await openServerSettings(settings, onNotice, signal);
  const keyNames = [...modelKeyNames(process.env), ...settings.keyNames];
  return { ...served, port: settings.port, environment, keyNames };
}
