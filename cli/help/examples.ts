/** Examples of every command, for its help. A test takes each one apart as commander would. */
import type { Command } from 'commander';

/** Command lines without the program's name. A command without own examples is shown with what it requires. */
export function examplesOf(path: string, { registeredArguments }: Command): readonly string[] {
  const required = registeredArguments.filter((argument) => argument.required);
  const words = required.map((argument) => argument.name().toUpperCase());
  return EXAMPLES[path] ?? [[path, ...words].join(' ')];
}

/** By the command's words. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  up: ['up', 'up --port 0 --workspace ~/project', 'up --no-bridge --json'],
  here: ['here', 'here "fix the failing test"', 'here -p "what does src do"', 'here --resume'],
  open: ['open', 'open --no-browser', 'open --to https://agent.example.com'],
  status: ['status', 'status --json'],
  logs: ['logs', 'logs --follow --lines 100', 'logs --trace 4bf92f3577b34da6a3ce929d0e0e4736'],
  backup: ['backup ~/drawbridge-backup.tar.gz'],
  restore: [
    'restore ~/drawbridge-backup.tar.gz',
    'restore drawbridge-backup.tar --state ~/restored',
  ],
  serve: ['serve --state /var/lib/drawbridge --trust-proxy --public-url https://agent.example.com'],
  chat: [
    'chat "list the files here"',
    'chat --mode plan "move the settings into one file"',
    'chat --continue "now do it"',
    'chat --json "hello"',
  ],
  'plan execute': ['plan execute', 'plan execute --file .cursor/plans/move.plan.md'],
  undo: ['undo', 'undo --preview', 'undo --since RESPONSE_ID'],
  'agents create': ['agents create --commit "fix the failing tests"'],
  'agents apply': ['agents apply ID'],
  'agents followup': ['agents followup ID "and the linter, too"'],
  'conversations list': ['conversations list --search config'],
  'conversations rename': ['conversations rename ID "A better title"'],
  export: ['export ID > conversation.md'],
  usage: ['usage', 'usage --from 2026-11-01'],
  login: ['login https://agent.example.com', "login 'https://agent.example.com/#join=…'"],
  invite: [
    'invite',
    'invite ana --url https://agent.example.com --secret-file ~/drawbridge-secret',
  ],
  'invitations revoke': ['invitations revoke ID', 'invitations revoke ID --operator'],
  'accounts suspend': ['accounts suspend ben', 'accounts suspend app:shop:42'],
  'accounts export': ['accounts export ben -o ben.ndjson'],
  'accounts delete': [
    'accounts delete ben --url https://agent.example.com --secret-file ~/drawbridge-secret',
  ],
  'sessions approve': ['sessions approve BCDF-GHJK'],
  'keys create': [
    'keys create shop --origins https://shop.example.com --runs-per-minute 20',
    'keys create shop --url https://agent.example.com --secret-file ~/drawbridge-secret',
  ],
  'config get': ['config get', 'config get --origin', 'config get server.port'],
  'config set': [
    'config set baseUrl http://127.0.0.1:11434/v1',
    'config set model qwen3-coder',
    `config set key '{"env": "OPENAI_API_KEY"}'`,
    `config set key '{"command": ["pass", "show", "openai"]}'`,
    'config set models.0.contextWindow 65536',
  ],
  'config unset': ['config unset server.port'],
  connect: ['connect https://agent.example.com --token-file token.txt'],
  token: ['token', 'token --for ana --secret-file secret.txt'],
  'policy add': [
    'policy add allow command "npm run *"',
    'policy add deny edit "migrations/*" --everywhere',
  ],
  'mcp add': [
    'mcp add memory -- npx -y @modelcontextprotocol/server-memory',
    'mcp add tickets --url https://tickets.example/mcp',
  ],
  acp: ['acp', 'acp --url https://agent.example.com --workspace ~/project'],
  'mcp serve': ['mcp serve', 'mcp serve --workspace ~/project'],
  'mcp test': ['mcp test', 'mcp test memory'],
  'ide install': ['ide install', 'ide install cursor --companion qwen'],
  doctor: ['doctor', 'doctor --url https://agent.example.com', 'doctor --json'],
  'service logs': ['service logs --follow'],
  uninstall: ['uninstall', 'uninstall --purge'],
  check: ['check', 'check --repair', 'check --state ~/.local/state/drawbridge/server'],
  completion: ['completion bash'],
  help: ['help', 'help chat', 'help config set', 'help files'],
};
