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
import { addLocationOptions, findKept, type LocationOptions } from '../target/location-options.ts';
import { askFirst } from '../terminal/confirm.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerDevices(program: Command): void {
  const group = program
    .command('devices')
    .description('List, enrol or revoke devices that may approve what the bridge asks about')
    .addHelpText('after', `\nWithout a command, it lists them.`);
  const list = group.command('list', { isDefault: true }).description('List the enrolled devices');
  addLocationOptions(list).action(listAll);
  const show = group.command('show').description('Show the public key of this machine');
  addLocationOptions(show).action(showOwn);
  const enrol = group
    .command('enrol <key>')
    .description(
      'Let a device approve: its key is a file, JSON, or what "devices show" prints there',
    );
  addLocationOptions(enrol).action(enrolOne);
  const revoke = group
    .command('revoke <device>')
    .description('Let a device approve nothing more, by its id or its name');
  addLocationOptions(revoke).action(revokeOne);
}

/** The folders of the lists: of all folders of the server, and of the one that the command is used in. */
async function findLists(options: LocationOptions): Promise<[machine: string, ...string[]]> {
  const { serverDir, projectDir = serverDir } = await findKept(options, 'kept');
  return projectDir === serverDir ? [serverDir] : [serverDir, projectDir];
}

async function listAll(options: LocationOptions): Promise<void> {
  const lists = await findLists(options);
  const devices = await listEnrolled(lists);
  const uses = await usesAt(lists[0]);
  const own = await readDevice(lists[0]);
  const terminal = openTerminal(process, process.env);
  for (const device of devices) {
    const { deviceId, label, enrolledAt, passkey } = device;
    const isOwn = deviceId === own?.deviceId;
    const enrolled = enrolledAt ? `enrolled ${enrolledAt}` : 'enrolled with the folder';
    const at = uses.get(deviceId);
    const used = at === undefined ? 'no approval yet' : `last approved ${at}`;
    const kind = isOwn ? ' (this machine)' : passkey ? ` (passkey of ${passkey.origin})` : '';
    const name = labelInLine(label) + kind;
    const cells = [deviceId, await fingerprintOf(device), enrolled, shortLine(used), name];
    terminal.writeOut(`${cells.join('  ')}\n`);
  }
  if (devices.length === 0) terminal.write('No device is enrolled for this folder.\n');
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
  if (!device) throw new UsageError(`${shortLine(written)} holds no device key. ${HOW}`);
  try {
    const { publicKey } = device;
    const key = await crypto.subtle.importKey('jwk', publicKey, DEVICE_ALGORITHM, true, ['verify']);
    const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key);
    return { ...device, publicKey: { ...publicKey, x, y } };
  } catch (cause) {
    throw new UsageError(`The key is damaged: it is no point of the curve P-256. ${HOW}`, {
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

async function revokeOne(named: string, options: LocationOptions): Promise<void> {
  const lists = await findLists(options);
  const own = await readDevice(lists[0]);
  const { deviceId, label } = findNamed(await listEnrolled(lists), named);
  for (const list of lists) {
    await changeDevices(list, (devices) => devices.filter((each) => each.deviceId !== deviceId));
  }
  const terminal = openTerminal(process, process.env);
  terminal.write(`${labelInLine(label)} can approve nothing here any more.\n`);
  if (deviceId === own?.deviceId) {
    terminal.write(
      'That is this machine: your chats here can no longer approve for this folder.\n',
    );
  }
}

function findNamed<Key extends DeviceKey>(devices: readonly Key[], named: string): Key {
  const found = devices.filter(({ deviceId, label }) => named === deviceId || named === label);
  const [device] = found;
  if (device && found.every(({ deviceId }) => deviceId === device.deviceId)) return device;
  const why = device ? 'names several devices' : 'is not enrolled here';
  throw new LocalError('refused', `${shortLine(named)} ${why}: "devices list" shows the ids.`);
}

/** A device names itself. */
function labelInLine(label: string): string {
  return shortLine(label) || 'a device without a name';
}
