/** The choices beside the text: the machine, the mode and the model. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ChatResponse, ClientError } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { folderName } from '../conversations/folder-name.ts';
import { useLive } from '../live.ts';
import { keepText, readText } from '../parts/storage.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { shortTime } from '../words/short.ts';
import { words } from '../words/words.ts';
import { skillCommands } from './commands.ts';

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  /** Gets the choice now, and each later one. */
  readonly onChoice?: (value: string) => void;
}

/** A choice that this browser remembers. Other options begin it anew. */
function Choice(props: ChoiceProps) {
  return <Options key={props.options.map(([value]) => value).join('\n')} {...props} />;
}

function Options({ name, label, options, onChoice }: ChoiceProps) {
  const last = readText(`last ${name}`);
  const known = options.some(([value]) => value === last) ? last : (options[0]?.[0] ?? '');
  useEffect(() => onChoice?.(known), []);
  return (
    <select
      name={name}
      aria-label={label}
      onChange={({ currentTarget: { value } }) => {
        keepText(`last ${name}`, value);
        onChoice?.(value);
      }}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === known}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** Chooses a mode for the messages that are sent from now on. */
export function chooseMode(mode: string): void {
  keepText('last mode', mode);
  const choice = document.querySelector<HTMLSelectElement>('select[name="mode"]');
  if (choice) choice.value = mode;
}

/** Chooses the mode in which an answer goes on when a person let it change, as the terminal does. */
export function useModeOf(answer: Partial<ChatResponse> = {}): void {
  const { id, mode = '', ownMode = mode } = answer;
  const before = useRef({ id, ownMode });
  useEffect(() => {
    const { current: last } = before;
    if (last.id === id && last.ownMode !== ownMode) chooseMode(ownMode);
    before.current = { id, ownMode };
  }, [id, ownMode]);
}

interface ModesProps {
  readonly account: PageAccount;
}

interface AtBridge {
  readonly bridgeId: string | null | undefined;
}

/** The built-in ones, and those that the workspace of this machine defines. */
export function Modes({ account, bridgeId }: ModesProps & AtBridge) {
  const { client, modes } = account;
  const [, render] = useState(0);
  const isConnected = account.bridgeOf(bridgeId ?? null)?.connected;
  useEffect(() => {
    if (bridgeId == null) return;
    const left = new AbortController();
    client.getBridge(bridgeId, left.signal).then(
      ({ definitions, skills }) => {
        account.skills.set(bridgeId, skillCommands(skills));
        modes.set(
          bridgeId,
          definitions.modes.map(({ name }) => name),
        );
        render((count) => count + 1);
      },
      (error: unknown) => {
        if (!left.signal.aborted && !(error instanceof ClientError)) throw error;
      },
    );
    return () => left.abort();
  }, [client, bridgeId, isConnected]);
  const own = modes.get(bridgeId ?? '') ?? [];
  const options = [...Object.entries(words.modes), ...own.map((name) => [name, name] as const)];
  return <Choice name="mode" label={words.mode} options={options} />;
}

/** Says before a message is sent that its machine is away, and in which folder a new conversation works. */
export function MachineState({
  account,
  bridgeId,
  isNew,
}: ModesProps & AtBridge & { readonly isNew: boolean }) {
  useLive(account.live, LIST);
  const bridge = account.bridgeOf(bridgeId ?? null);
  if (!bridge) return null;
  if (account.stateOf(bridge) !== 'offline')
    return isNew ? <code class="hint">{inOneLine(bridge.workspacePath)}</code> : null;
  return (
    <p class="hint" role="status">
      {words.machineAway(folderName(bridge.workspacePath), shortTime(bridge.lastConnected))}{' '}
      <code>drawbridge</code>
    </p>
  );
}

export function Models({ account }: ModesProps) {
  const chats = account.models.items.filter(({ roles }) => roles?.includes('chat') ?? true);
  if (chats.length < 2) return null;
  const options = chats.map(({ id }) => [id, id] as const);
  return (
    <Choice name="model" label={words.model} options={[['', words.defaultModel], ...options]} />
  );
}

export function Machines({
  account,
  onChoice,
}: ModesProps & Pick<Required<ChoiceProps>, 'onChoice'>) {
  const names = account.bridges.map(({ workspacePath }) => folderName(workspacePath));
  const options = account.bridges.map((bridge, index) => {
    const { id, workspacePath } = bridge;
    const name = names[index] ?? '';
    // Paths distinguish two folders of one name.
    const isAlone = names.indexOf(name) === names.lastIndexOf(name);
    const state = account.stateOf(bridge);
    const about = state === 'online' ? '' : ` (${words.machineState[state]})`;
    return [id, `${isAlone ? name : inOneLine(workspacePath)}${about}`] as const;
  });
  if (options.length === 0) return null;
  return <Choice name="bridge" label={words.machine} options={options} onChoice={onChoice} />;
}
