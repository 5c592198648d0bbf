/** `drawbridge devices`: the devices whose approvals count at the bridge of a folder. Only this machine enrols them. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { fingerprintOf, formatDeviceKey, readDeviceKey } from '../../client/index.ts';
import { listEnrolled, publicHalf, readDevice } from '../../local/state/device.ts';
import { namedServerDir, sharedServerDir } from '../../local/state/folder.ts';
import { openServerState } from '../../local/state/state.ts';
import { changeDevices, isSameKey } from '../../machine/enrolled-devices.ts';
import { LocalError } from '../../machine/local-error.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { DEVICE_ALGORITHM } from '../../shared/wire/approval-text.ts';
import { DeviceKey } from '../../shared/wire/approvals.ts';
import { listCommand } from '../list/list-command.ts';
import { addLocationOptions, findKept, type LocationOptions } from '../target/location-options.ts';
import { askFirst } from '../terminal/confirm.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerDevices(program: Command): void {
  const group = listCommand(program, {
    command: 'devices',
    noun: 'enrolled device',
    description: 'List, enrol or revoke devices that may approve calls',
    listDescription: 'List the enrolled devices',
    addOptions: addLocationOptions,
    open: findLists,
    load: loadDevices,
    id: ({ deviceId }) => deviceId,
    name: ({ label }) => label,
    columns: {
      ID: ({ deviceId }) => deviceId,
      FINGERPRINT: fingerprintOf,
      ENROLLED: ({ enrolledAt }) => (enrolledAt ? new Date(enrolledAt) : 'with the folder'),
      'LAST APPROVED': ({ lastApproved }) => (lastApproved ? new Date(lastApproved) : 'never'),
      NAME: ({ label, isOwn, passkey }) =>
        labelInLine(label) +
        (isOwn ? ' (this machine)' : passkey ? ` (passkey of ${passkey.origin})` : ''),
    },
    json: async ({ isOwn: current, ...device }) => {
      return { ...device, fingerprint: await fingerprintOf(device), current };
    },
    empty: 'No device is enrolled for this folder.',
    actions: [
      {
        name: 'revoke',
        description: 'Revoke a device, by id or name',
        done: 'Revoked',
        run: async ({ deviceId }, lists) => {
          const isOther = (device: DeviceKey) => device.deviceId !== deviceId;
          for (const list of lists) await changeDevices(list, (all) => all.filter(isOther));
        },
        note: ({ isOwn }) =>
          isOwn
            ? 'That is this machine: your chats here can no longer approve for this folder.'
            : undefined,
      },
    ],
  });
  const show = group.command('show').description('Show the public key of this machine');
  addLocationOptions(show).action(showOwn);
  const enrol = group
    .command('enrol <key>')
    .description('Enrol a device by its key: a file, JSON, or the output of "devices show" there');
  addLocationOptions(enrol).action(enrolOne);
}

/** The files' folders: of the devices for all folders of the server, and of those for the folder of the command. */
type Lists = readonly [machine: string, ...string[]];

async function findLists(options: LocationOptions): Promise<Lists> {
  const { serverDir, projectDir = serverDir } = await findKept(options, 'kept');
  return projectDir === serverDir ? [serverDir] : [serverDir, projectDir];
}

async function loadDevices(lists: Lists) {
  const [devices, uses, own] = await Promise.all([
    listEnrolled(lists),
    usesAt(lists[0]),
    readDevice(lists[0]),
  ]);
  const items = devices.map((device) => {
    const { deviceId } = device;
    return { ...device, lastApproved: uses.get(deviceId), isOwn: deviceId === own?.deviceId };
  });
  return { items };
}

/** When each device last approved, in any folder of the server. */
async function usesAt(serverDir: string): Promise<Map<string, string>> {
  const { readDeviceUses } = await import('../../bridge/admission/devices.ts');
  const projects = join(serverDir, 'projects');
  const names = await readdir(projects).catch(() => []);
  const newest = new Map<string, string>();
  for (const dir of [serverDir, ...names.map((name) => join(projects, name))]) {
    for (const [id, at] of Object.entries(await readDeviceUses(join(dir, 'device-uses.json')))) {
      if (at > (newest.get(id) ?? '')) newest.set(id, at);
    }
  }
  return newest;
}

async function showOwn({ state }: LocationOptions): Promise<void> {
  const device =
    state === undefined
      ? (await openServerState(await sharedServerDir())).device
      : await readDevice(await namedServerDir(state));
  if (!device) throw new LocalError('refused', 'This state has no device yet: start its server.');
  const own = publicHalf(device);
  const terminal = openTerminal(process, process.env);
  terminal.write(`Device       ${labelInLine(own.label)} (${own.deviceId})\n`);
  terminal.write(`Fingerprint  ${await fingerprintOf(own)}\n`);
  terminal.write(
    'Enrol it at the machine of the bridge, with "drawbridge devices enrol" and this text:\n',
  );
  terminal.writeOut(`${formatDeviceKey(own)}\n`);
}

async function enrolOne(written: string, options: LocationOptions): Promise<void> {
  const device = await readKey(written);
  const [machine, ...others] = await findLists(options);
  if (options.state === undefined) await openServerState(machine);
  const terminal = openTerminal(process, process.env);
  const name = labelInLine(device.label);
  terminal.write(`Device       ${name} (${device.deviceId})\n`);
  terminal.write(`Fingerprint  ${await fingerprintOf(device)}\n`);
  terminal.write(`${mayApprove(machine)}\n`);
  await askFirst(terminal, 'Does the device itself show this fingerprint?', {
    unasked: 'a person must compare the fingerprint, so enrol devices in a terminal.',
    otherwise: 'Nothing was enrolled.',
  });
  const elsewhere = await listEnrolled(others);
  await changeDevices(machine, (devices) => {
    const isNamed = ({ deviceId }: DeviceKey) => deviceId === device.deviceId;
    const known = devices.find(isNamed) ?? elsewhere.find(isNamed);
    // One that was enrolled for this folder alone may count everywhere from now on.
    if (known && (devices.includes(known) || !isSameKey(known, device))) {
      throw alreadyThere(known, device);
    }
    return [...devices, { ...device, enrolledAt: new Date().toISOString() }];
  });
  terminal.write(`${name} may approve from now on.\n`);
}

function alreadyThere(known: DeviceKey, device: DeviceKey): LocalError {
  const what = isSameKey(known, device)
    ? 'is enrolled already'
    : 'is enrolled with another key: revoke it first';
  return new LocalError('refused', `${device.deviceId} ${what}.`);
}

/** What an enrolled device may do, by the state folder of the machine's server. */
export function mayApprove(serverDir: string): string {
  return `It could then approve any command and any edit in every folder that is connected to the server in ${nameInLine(serverDir)}.`;
}

/** The key as WebCrypto writes it, so that one key has one fingerprint. */
async function readKey(written: string): Promise<DeviceKey> {
  const parse = (text: string) => DeviceKey.safeParse(readDeviceKey(text)).data;
  const device = parse(written) ?? parse(await readKeyFile(written));
  if (!device) throw new UsageError(`${shortLine(written)} contains no device key. ${HOW}`);
  try {
    const { publicKey } = device;
    const key = await crypto.subtle.importKey('jwk', publicKey, DEVICE_ALGORITHM, true, ['verify']);
    const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key);
    return { ...device, publicKey: { ...publicKey, x, y } };
  } catch (cause) {
    throw new UsageError(`The key is damaged: it is not a point on the curve P-256. ${HOW}`, {
      cause,
    });
  }
}

async function readKeyFile(path: string): Promise<string> {
  return await readPlainFile(path).catch((cause: unknown) => {
    const text = `${shortLine(path)} is neither a device key nor a file that can be read. ${HOW}`;
    throw new UsageError(text, { cause });
  });
}

const HOW = `\`${ownCommand('devices', 'show')}\` prints one on the device.`;

/** A device names itself. */
function labelInLine(label: string): string {
  return shortLine(label) || 'a device without a name';
}
