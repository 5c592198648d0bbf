/** What the self-test asks of Seatbelt alone: rules about names that appear later, the keychain, and what is allowed. */
import { join } from 'node:path';
import { shellWord } from '../../../machine/shell-word.ts';
import { type Probes, SAID } from './probes.ts';

/** Where the traps are. */
export interface MacTraps {
  /** In the workspace, with a secret `.env` in it. */
  readonly folder: string;
  readonly home: string;
  readonly closedFolders: readonly string[];
  /** The last ones lie in the closed folders. */
  readonly secrets: readonly string[];
  /** Of servers of the machine. */
  readonly port: number;
  readonly socket: string;
}

/** No item is made in the person's keychain: no file of it opens, and `security` lists nothing. */
export function macProbes({
  folder,
  home,
  closedFolders,
  secrets,
  port,
  socket,
}: MacTraps): Probes {
  const late = join(folder, 'late');
  const outside = ['.Git/config', '.vscode/tasks.json', '.github/hooks/a.json'];
  const state = closedFolders.length === 0 ? [] : secrets.slice(-closedFolders.length);
  const keychains = [join(home, 'Library/Keychains'), '/Library/Keychains'];
  const names = ['login.keychain-db', 'System.keychain'];
  const files = keychains.flatMap((at) => names.map((name) => join(at, name)));
  // The same files by the disk that `/` shows, and in upper case, which most disks of macOS take for the same name.
  const otherwise = [...secrets.map((path) => `${DATA_DISK}${path}`), join(folder, '.ENV')];
  const env = shellWord(join(folder, '.env'));
  const other = shellWord(join(folder, 'other'));
  return {
    secrets: otherwise,
    outside: outside.map((name) => join(late, name)),
    script: `
mkdir -p ${shellWord(late)} && cd ${shellWord(late)} || exit
mkdir .Git .vscode .github .github/hooks 2>/dev/null
for name in ${outside.join(' ')}; do { echo written >"$name"; } 2>/dev/null; done
for name in .env .Env.local; do
  { echo secret >"$name" && read -r seen <"$name"; } 2>/dev/null && echo "${SAID.revealed}$name"
done
for way in /bin/ln /bin/mv /bin/cp; do
  "$way" ${env} ${other} 2>/dev/null
  { read -r seen <${other}; } 2>/dev/null && echo "${SAID.revealed}".env
  /bin/rm -f ${other}
done
for place in ${keychains.map(shellWord).join(' ')}; do
  /bin/ls "$place" >/dev/null 2>&1 && echo "${SAID.revealed}$place"
done
for file in ${files.map(shellWord).join(' ')}; do
  /usr/bin/head -c 1 "$file" >/dev/null 2>&1 && echo "${SAID.revealed}$file"
done
[ -n "$(/usr/bin/security dump-keychain 2>/dev/null </dev/null)" ] && echo "${SAID.revealed}the keychain"
/usr/bin/nc -z -w 1 127.0.0.1 ${port} >/dev/null 2>&1 && echo "${SAID.reached}loopback"`,
    allowed: [
      // The network is no way to the secrets, nor to the programs of this machine that listen at a socket.
      {
        permissions: ['network'],
        script: `${readAll(secrets)}
/usr/bin/nc -U -w 1 ${shellWord(socket)} </dev/null >/dev/null 2>&1 && echo "${SAID.reached}socket"`,
      },
      { permissions: ['all'], script: readAll(state) },
    ],
    judge: async () => ({ isApart: true, sawProcesses: false, unbounded: [] }),
  };
}

const DATA_DISK = '/System/Volumes/Data';

function readAll(secrets: readonly string[]): string {
  return `for secret in ${secrets.map(shellWord).join(' ')}; do
  { read -r seen <"$secret"; } 2>/dev/null && echo "${SAID.revealed}$secret"
done`;
}
