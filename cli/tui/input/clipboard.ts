/** The clipboard of the machine: a picture out of it, and text into it through the terminal. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram, foldersOutside } from '../../terminal/programs.ts';
import { INPUT_LIMITS } from './limits.ts';

export type ClipboardImage =
  | { readonly state: 'read'; readonly bytes: Buffer }
  | { readonly state: 'empty' }
  /** There is no program that can read it. */
  | { readonly state: 'no program' };

/** Asks the programs that are there, one after the other. Uses none in `workspaceDir`, where the agent can write. */
export async function readClipboardImage(workspaceDir: string): Promise<ClipboardImage> {
  const folders = foldersOutside(workspaceDir);
  const found = READERS.flatMap((reader) => {
    const program = findProgram(reader.program, folders);
    return program === undefined ? [] : [{ ...reader, program }];
  });
  for (const { program, words, decode } of found) {
    const bytes = decode(await outputOf(program, words));
    if (bytes.length > 0) return { state: 'read', bytes };
  }
  return { state: found.length === 0 ? 'no program' : 'empty' };
}

/** The names of the programs, for a person who has none. */
export function clipboardPrograms(): string {
  return READERS.map(({ program }) => program).join(', ');
}

interface ClipboardReader {
  readonly program: string;
  readonly words: readonly string[];
  /** The bytes of the picture in the program's output; none where it says that there is no picture. */
  decode(output: Buffer): Buffer;
}

const asItIs = (output: Buffer) => output;

const READERS: readonly ClipboardReader[] = {
  darwin: [
    { program: 'pngpaste', words: ['-'], decode: asItIs },
    {
      program: 'osascript',
      words: ['-e', 'the clipboard as «class PNGf»'],
      decode: fromAppleScript,
    },
  ],
  linux: [
    { program: 'wl-paste', words: ['--type', 'image/png'], decode: asItIs },
    {
      program: 'xclip',
      words: ['-selection', 'clipboard', '-target', 'image/png', '-out'],
      decode: asItIs,
    },
  ],
}[process.platform === 'darwin' ? 'darwin' : 'linux'];

/** AppleScript writes `«data PNGf89504E47…»`. */
function fromAppleScript(output: Buffer): Buffer {
  return Buffer.from(/PNGf([0-9A-F]+)/.exec(output.toString('utf8'))?.[1] ?? '', 'hex');
}

/** Empty where the program fails: that is how they say that there is no picture. */
async function outputOf(program: string, words: readonly string[]): Promise<Buffer> {
  const { clipboardMs: timeout, maxClipboardBytes: maxBuffer } = INPUT_LIMITS;
  const options = { encoding: 'buffer', timeout, maxBuffer } as const;
  return await promisify(execFile)(program, words, options).then(
    ({ stdout }) => stdout,
    () => Buffer.alloc(0),
  );
}

/** What asks the terminal to put the text into the clipboard of the machine that shows it (OSC 52). */
export function copySequence(text: string): string {
  return `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
}
