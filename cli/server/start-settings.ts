/** What a terminal gives the server that it starts: settings, keys of models, and the environment of bridges. */
import * as z from 'zod';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import {
  openServerSettings,
  readSettings,
  runsKeyCommands,
  type Settings,
} from '../../local/config/settings.ts';
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

/**
 * Reads the settings of this terminal. A command that prints a key may ask the person.
 * @throws {LocalError} if a setting is wrong, or a key cannot be had.
 */
export async function readStartSettings(
  options: ModelQuestion,
  onNotice: (line: string) => void,
  signal: AbortSignal,
): Promise<StartSettings> {
  const settings = await settingsWithModel(options, signal);
  const environment = bridgeEnvironment(process.env, settings.keyNames);
  // What is typed for such a command, as a passphrase, must become no message.
  using _ = runsKeyCommands(settings) ? options.terminal?.lend() : undefined;
  const served = await openServerSettings(settings, onNotice, signal);
  const keyNames = [...modelKeyNames(process.env), ...settings.keyNames];
  return { ...served, port: settings.port, environment, keyNames };
}

export interface ModelQuestion {
  readonly port?: number | undefined;
  /** Whether stdout is for a program: no person is asked then. */
  readonly json?: boolean;
  /** Of the command, where it has one: two keyboards would share what is typed. */
  readonly terminal?: Terminal;
}

/** Where nothing says which model answers, a person at the terminal is asked once. Throws Interrupted at Ctrl-C. */
export async function settingsWithModel(
  { port, json = false, terminal }: ModelQuestion,
  signal: AbortSignal,
): Promise<Settings> {
  const settings = await readSettings(process.env, { port });
  if (settings.isModelChosen) return settings;
  const asked = terminal ?? openTerminal(process, process.env, { machine: json });
  await chooseModel(asked, process.env, signal);
  return await readSettings(process.env, { port });
}
