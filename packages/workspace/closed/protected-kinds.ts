/** The one table of names that nothing may change. File tools, sandbox and quarantine all use it. */
import { words } from '../../../machine/words.ts';

/** A group of names that start programs in the same way. */
export interface ProtectedKind {
  /** The group's name, for people. docs/security.md has a row with this name. */
  readonly kind: string;
  /**
   * Names of files and folders at any depth, in lower case. `*` stands for any characters. A `/` within: the part before
   * it names the folder around.
   */
  readonly names: readonly string[];
}

/**
 * A program of the person's obeys these names when it only opens or enters the folder, or when the person starts it for
 * another purpose. Files that a person runs on purpose as part of the project (a Makefile, `package.json`) are not in
 * the table: changing them is the work. The comments name the documentation that lists the names.
 */
export const PROTECTED_KINDS: readonly ProtectedKind[] = [
  {
    kind: 'version control',
    // git: git-config(1), gitmodules(5); hg: hgrc(5); sl help config; jj: Settings; darcs manual:
    // Configuring darcs, defaults
    names: words('.git .gitmodules .gitconfig .hg .hgrc .sl .jj _darcs'),
  },
  {
    kind: 'hooks of version control',
    // git: githooks(5); typicode.github.io/husky; lefthook.dev/configuration; pre-commit.com;
    // prek.j178.dev; lint-staged and simple-git-hooks: README; overcommit, captainhook, grumphp,
    // nano-staged, rusty-hook, cargo-husky: README; hk.jdx.dev/configuration; docs.trunk.io: Git Hooks;
    // commitlint.js.org: Configuration; docs.cocogitto.io: cog.toml
    names: words(`
      .githooks .git-hooks .husky .huskyrc .huskyrc.* lefthook.* .lefthook.* lefthook-local.*
      .lefthook-local.* .lefthook .lefthook-local .pre-commit-config.yaml .pre-commit-config.yml
      .pre-commit-hooks.yaml prek.toml .lintstagedrc .lintstagedrc.* lint-staged.config.*
      simple-git-hooks.* .simple-git-hooks.* .overcommit.yml captainhook.json grumphp.*
      nano-staged.* .nano-staged.* .rusty-hook.toml rusty-hook.toml .cargo-husky hk.pkl hk.local.pkl
      .trunk .commitlintrc .commitlintrc.* commitlint.config.* cog.toml
    `),
  },
  {
    kind: 'editors and their tasks',
    // code.visualstudio.com: Tasks, Workspaces; jetbrains.com: Run/debug configurations; zed.dev:
    // Tasks; vim: :help exrc; neovim: :help exrc; emacs: Directory Variables, Init File;
    // docs.helix-editor.com: Configuration; sublimetext.com: Projects; learn.microsoft.com: Customize
    // build and debug tasks; help.eclipse.org: External tools, Factory Path; help.panic.com: Nova tasks;
    // theia-ide.org: Tasks; lite-xl.com: Project modules; lapce: run.toml; neoconf.nvim,
    // YouCompleteMe, kotlin-language-server: README
    names: words(`
      .vscode *.code-workspace .idea .run *.run.xml .fleet .zed .vs .nova .helix .exrc _exrc .vimrc
      _vimrc .gvimrc .lvimrc .nvimrc .nvim.lua .vim .dir-locals.el .dir-locals-2.el .emacs .emacs.d
      *.sublime-project *.sublime-workspace .externaltoolbuilders .factorypath *.ipr .theia .lapce
      .lite_project.lua .neoconf.json .ycm_extra_conf.py kls-classpath
    `),
  },
  {
    kind: 'language servers and linters of editors',
    // build-server-protocol.github.io: Build Server Discovery; hie-bios: README, bios; merlin: .merlin;
    // rust-analyzer.github.io: Configuration; pylint.readthedocs.io: init-hook; flake8.pycqa.org:
    // local plugins; docs.rubocop.org: Extensions, require; luacheck.readthedocs.io: Configuration
    // file; solargraph: README, plugins
    names: words(`
      .bsp hie.yaml .merlin rust-analyzer.toml .rust-analyzer.toml .pylintrc pylintrc .flake8
      .rubocop.yml .luacheckrc .solargraph.yml
    `),
  },
  {
    kind: 'development environments',
    // containers.dev: devcontainer.json; gitpod.io/docs: .gitpod.yml; firebase.google.com: dev.nix;
    // docs.replit.com: .replit; codesandbox.io/docs: tasks; devfile.io: Adding event bindings;
    // ona.com/docs: automations.yaml; docs.conductor.build: Scripts
    names: words(`
      .devcontainer .devcontainer.json devcontainer.json .gitpod.yml .gitpod.dockerfile .idx .replit
      replit.nix .codesandbox .stackblitzrc devfile.yaml .devfile.yaml .gitpod .ona conductor.json
    `),
  },
  {
    kind: 'agents',
    // modelcontextprotocol.io; cursor.com/docs; docs.claude.com: Claude Code settings;
    // developers.openai.com/codex; geminicli.com/docs; docs.github.com/copilot;
    // aider.chat/docs/config; opencode.ai/docs/config; kiro.dev/docs; docs.windsurf.com;
    // docs.cline.bot; docs.roocode.com; docs.continue.dev; the documentation of each of the others
    names: words(`
      .drawbridge .mcp.json lsp.json .lsp.json .plugin .claude-plugin .cursor-plugin .codex-plugin
      .agents .agent .cursor .cursorrules .cursorignore .cursorindexingignore .geminiignore
      .qwenignore .claude .claude.json .codex .gemini .qwen .copilot copilot-instructions.md
      *.instructions.md *.prompt.md *.chatmode.md *.agent.md .aider.conf.yml
      .aider.model.settings.yml .aider.model.metadata.json .opencode opencode.json opencode.jsonc
      .crush .crush.json crush.json .kiro .amazonq .windsurf .windsurfrules .codeium .cline
      .clinerules .roo .roomodes .roorules .roorules-* .kilocode .kilocodemodes .continue
      .continuerc.json .continuerules .goose .goosehints .junie .augment .augment-guidelines .trae
      .tabnine .amp .factory .openhands .openhands_instructions .warp .pi .grok .serena .rovodev .qoder .codebuddy .iflow .vibe .kimi
      gptme.toml codebuff.json
    `),
  },
  {
    kind: 'environment loaders',
    // direnv(1); mise.jdx.dev/configuration; asdf-vm.com: Configuration; autoenv and zsh-autoenv:
    // README; flox.dev/docs: manifest.toml; shopify.github.io/shadowenv; rvm.io: Project files;
    // moonrepo.dev/docs/proto: activate; cashapp.github.io/hermit: Shell Integration
    names: words(`
      .envrc .direnv mise.toml mise.*.toml .mise.toml .mise.*.toml .mise .miserc.toml .rtx.toml
      .config/mise mise/config.toml
      .tool-versions .asdfrc .autoenv .autoenv.zsh .autoenv_leave.zsh .autoenv.leave .flox
      .shadowenv.d .rvmrc .prototools activate-hermit activate-hermit.fish
    `),
  },
  {
    kind: 'shells, and what starts with them',
    // bash(1); zsh(1); ksh(1); tcsh(1); fish(1); xon.sh: Run control; tmux(1); screen(1);
    // Xsession(5); readline(3)
    names: words(`
      .profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile
      .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout config.fish .xonshrc .inputrc
      .tmux.conf .screenrc .xprofile .xinitrc .xsession .xsessionrc
    `),
  },
  {
    kind: 'debuggers and interpreters',
    // gdb: Init File in the Current Directory; lldb(1); python: pdb; perldebug(1); jdb(1); ruby:
    // irb, debug; pry, byebug: README; R: Startup; GHC: The .ghci files; ocaml(1); IEx: Configuring
    // the shell; erl(1); octave: Startup files
    names: words(`
      .gdbinit .gdbearlyinit .lldbinit .lldbinit-* .pdbrc .pdbrc.py .perldb .jdbrc jdb.ini .irbrc
      .pryrc .byebugrc .rdbgrc .rdbgrc.rb .rprofile .renviron .ghci .ocamlinit .iex.exs .erlang
      .octaverc
    `),
  },
  {
    kind: 'package managers, build tools and searches',
    // docs.npmjs.com: npmrc; yarnpkg.com: yarnrc; pnpm.io/pnpmfile; bun.sh/docs: bunfig.toml;
    // doc.rust-lang.org/cargo: Configuration; maven.apache.org: Configuring Apache Maven; bazel.build:
    // .bazelrc; buck2.build: .buckconfig; conda: .condarc; pip: Configuration; ripgrep: Configuration
    // file
    names: words(`
      .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml .cargo .mvn .mavenrc
      .bazelrc .buckconfig .buckconfig.local .condarc pip.conf pip.ini .ripgreprc
    `),
  },
];

/** What agents obey in a folder `.github`, beside the names of the table: hooks, servers and plugins. */
export const PROTECTED_IN_GITHUB = words('hooks mcp.json copilot plugin extensions agents skills');

/** Folders in which a program that starts an agent finds commands of its own: hooks, servers, plugins. */
export const AGENT_FOLDERS = words(`
  .agents .agent .claude .codex .cursor .gemini .qwen .copilot .opencode .kiro .windsurf .factory
  .plugin .claude-plugin .cursor-plugin .codex-plugin .pi .grok .rovodev .qoder .codebuddy .iflow
  .vibe .kimi
`);
