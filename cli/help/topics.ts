/** The pages of `drawbridge help` that are about no single command. */
import { CHAT_EXIT_HELP } from '../terminal/exit-codes.ts';

/** A page by its name. */
export interface Topic {
  readonly summary: string;
  readonly text: string;
}

const FILES = `Files of your own. XDG_CONFIG_HOME and XDG_STATE_HOME stand for ~/.config and
~/.local/state where they are set.

  ~/.config/drawbridge/config.json
      your settings; see "drawbridge help config" and docs/configuration.md
  ~/.config/drawbridge/config.schema.json
      the schema of config.json, for editors
  ~/.config/drawbridge/policy.json, rules.md
      your rules, and your instructions for the model, in all projects
  ~/.local/state/drawbridge/server/
      the state of the server: its secret, your token, conversations, and logs,
      those of bridges too ("drawbridge logs" shows them)
  ~/.local/state/drawbridge/server/projects/NAME/
      the state of the bridge of one project
  ~/.local/state/drawbridge/programs/
      copies of the program, if it lies in a clone or in a project

Files that you may write into the state of a project (or into the folder that
--state names):

  policy.json      your rules: what runs, what asks ("drawbridge policy")
  grants.json      other accounts that may use the folder ("drawbridge allow")
  rules.md         your instructions for every conversation
  hooks.json       the hooks that you trust ("drawbridge hooks")
  sandbox.json     what else commands may read, and which secrets tools may
  worktrees.json   how worktrees are set up
  mcp.json         MCP servers; see "drawbridge help mcp"

Files of a workspace:

  .drawbridge/policy.json       makes your rules stricter, never milder
  .drawbridge/modes/NAME.md     a mode of this workspace
  .drawbridge/agents/NAME.md    an agent of this workspace
  .agents/skills, .claude/skills, .claude/commands, .cursor/commands
                                skills and commands ("drawbridge skills")
  AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules, .cursor/rules/*.mdc
                                rules that the agent follows
`;

const ENVIRONMENT = `Variables of the model. MODELS or OPENAI_BASE_URL replaces the model of config.json.

  OPENAI_API_KEY      the key; alone it is a key for OpenAI
  OPENAI_BASE_URL     the URL of an OpenAI-compatible server
  OPENAI_MODEL        the model that answers when a request names none
  MODELS              a table of models as JSON (docs/models.md)
  TEXT_ONLY_MODELS    models that take no images, separated by commas
  PRIVATE_MODELS      models whose server keeps nothing, separated by commas; * for all

Variables of the server:

  DRAWBRIDGE_PORT     the port of the API
  ALLOWED_ORIGINS     web pages that may call the API, separated by commas
  WEBHOOK_ORIGINS     origins that webhooks and ntfy may go to without https
  PROMPT_BLOCKS       changes of the system prompt as JSON (docs/prompt.md)
  DELETE_AFTER_HOURS  makes new conversations private (docs/configuration.md)
  MAX_TURNS           requests to the model in one answer; 100 by default
  METRICS_TOKEN       more tokens for GET /metrics (docs/observability.md)
  OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS
                      where spans of runs go (docs/observability.md)
  RATE_LIMIT_REQUESTS_PER_MINUTE, RATE_LIMIT_RUNS_PER_MINUTE
                      limits of one account; 0 for none

Variables of commands:

  DRAWBRIDGE_MODE     the mode of a chat that names none
  DRAWBRIDGE_PLAIN    1: a chat that only adds lines, for screen readers; TERM=dumb does the same
  DRAWBRIDGE_PRESET   the preset of your rules: read-only, ask, workspace, trusted
  DRAWBRIDGE_TOKEN    the token of "drawbridge connect", and for --url
  DRAWBRIDGE_PASS_ENV variables for commands that you let out of the sandbox
  DRAWBRIDGE_IDE_PORT the editor's companion, by its port
  DRAWBRIDGE_PROGRAMS the folder of copies of the program
  VISUAL, EDITOR      the editor of "drawbridge config edit"
  NO_COLOR            no colours; TERM=dumb does the same
  XDG_CONFIG_HOME, XDG_STATE_HOME
                      where files are; see "drawbridge help files"

An empty variable counts as unset. An option wins over a variable, a variable
over config.json.
`;

export const TOPICS: Readonly<Record<string, Topic>> = {
  files: { summary: 'where settings, state and rules are stored', text: FILES },
  environment: { summary: 'the variables that Drawbridge reads', text: ENVIRONMENT },
  'exit-codes': {
    summary: 'what the exit codes mean',
    text: `${CHAT_EXIT_HELP.trim()}\n\nOnly chat, plan and agents have the codes from 3 on.\n`,
  },
};
