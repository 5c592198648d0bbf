/** What people recognise in a list of devices: `Firefox on Linux`. */
export function browserName(): string {
  const { userAgent } = navigator;
  const browser = /Edg|OPR|Firefox|Chrome|Safari/.exec(userAgent)?.[0] ?? 'Browser';
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux|CrOS/.exec(userAgent)?.[0] ?? 'a device';
  return `${NAMES[browser] ?? browser} on ${NAMES[system] ?? system}`;
}

const NAMES: Readonly<Record<string, string>> = {
  Edg: 'Edge',
  OPR: 'Opera',
  'Mac OS': 'macOS',
  CrOS: 'ChromeOS',
};
