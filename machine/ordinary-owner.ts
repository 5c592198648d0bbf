/** The owner that a folder of root's can get, so that the commands of a bridge that runs as root have a user to run as. */
import { readFile } from 'node:fs/promises';
import { shellWord } from './shell-word.ts';

/** The uids of people; lower ones are services'. */
const FIRST_UID = 1000;
const LAST_UID = 59_999;

/**
 * The words of a command that gives the folder to the machine's first ordinary user, or to the user id 1000, which needs
 * no account. `-h` leaves alone what links of the folder name.
 */
export async function ownerCommand(folder: string): Promise<readonly [string, ...string[]]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const users = text.split('\n').map((line) => line.split(':').slice(2, 4).map(Number));
  const [uid, gid] = users.find(isOrdinary) ?? [FIRST_UID, FIRST_UID];
  return ['chown', '-R', '-h', `${uid}:${gid}`, folder];
}

function isOrdinary([uid = 0, gid = 0]: number[]): boolean {
  return uid >= FIRST_UID && uid <= LAST_UID && gid > 0;
}

/** The command as a person types it. */
export async function ownerLine(folder: string): Promise<string> {
  const words = await ownerCommand(folder);
  return words.map((word) => (/^[\w./:-]+$/.test(word) ? word : shellWord(word))).join(' ');
}
