/** The texts that make the system start the server at a login: for systemd and launchd. */

/** What the system runs. */
export interface Job {
  /** Absolute paths: the system knows no folder of ours. */
  readonly command: readonly string[];
  /** Variables of the terminal that a bridge's commands need, and that the system does not have. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A unit of systemd. A refused start (exit code 2) is not repeated, and `drawbridge stop` is obeyed. */
export function systemdUnit({ command, environment }: Job): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}\n`,
  );
  return `[Unit]
Description=Drawbridge: a coding agent behind an API
After=network.target

[Service]
ExecStart=${command.map((word) => systemdWord(word.replaceAll('$', '$$$$'))).join(' ')}
${variables.join('')}Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
TimeoutStopSec=15

[Install]
WantedBy=default.target
`;
}

/** In quotes; `%` would begin a specifier. `$` means something in ExecStart only. */
function systemdWord(word: string): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%');
  return `"${escaped}"`;
}

/** The name of the agent of launchd. */
export const LAUNCHD_LABEL = 'dev.drawbridge.server';

/** A property list of launchd (man 5 launchd.plist). The server keeps its own logs. */
export function launchdPlist({ command, environment }: Job): string {
  const words = command.map((word) => `    <string>${xml(word)}</string>\n`);
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LAUNCHD_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('')}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>5</integer>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
