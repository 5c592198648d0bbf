/**
 * What git's commands print of committed content. The table names what is known to print none: a command or an option
 * that it lacks counts as one that prints all.
 */

/**
 * `nothing`: no content. `brief`: none, but the line is about a path. `named`: the content of what it names. `all`: also
 * of what it does not name.
 */
type Reveal = 'nothing' | 'brief' | 'named' | 'all';

/** The words behind a git command, read by the options that are known of it. */
interface GitArguments {
  /** Without `-` or `--`. */
  readonly options: ReadonlySet<string>;
  readonly operands: readonly string[];
  /** The values of options. */
  readonly values: readonly string[];
  /** Whether each option is known to print no content. */
  readonly isKnown: boolean;
}

/** What git prints for these words. `fillsElsewhere` says that files go to another folder than the repository's. */
export function revealOfGit(
  command: string,
  args: readonly string[],
  { fillsElsewhere }: { readonly fillsElsewhere: boolean },
): Reveal {
  const row = COMMANDS.get(command);
  if (row === undefined) return 'all';
  const read = readArguments(args, row.options);
  if (!read.isKnown || (row.fills && fillsElsewhere)) return 'all';
  if (row.actions !== undefined && !row.actions.has(read.operands[0] ?? '')) return 'all';
  return typeof row.prints === 'string' ? row.prints : row.prints(read);
}

/** The words behind a git command, and the line that git runs for each commit or submodule, if it runs one. */
export function splitAtLine(
  command: string,
  args: readonly string[],
): { readonly own: readonly string[]; readonly line: string | undefined } {
  const action = RUNNERS.get(command);
  const at = action === undefined ? -1 : args.indexOf(action);
  if (at < 0) return { own: args, line: undefined };
  return { own: args.slice(0, at + 1), line: args.slice(at + 1).join(' ') };
}

const RUNNERS: ReadonlyMap<string, string> = new Map([
  ['bisect', 'run'],
  ['submodule', 'foreach'],
]);

interface GitCommand {
  readonly options: KnownOptions | 'any';
  readonly prints: Reveal | ((args: GitArguments) => Reveal);
  /** What its first operand can be; empty for none. */
  readonly actions?: ReadonlySet<string>;
  /** Whether it writes committed files into the work tree. */
  readonly fills?: true;
}

/** By the name without dashes: whether a value follows. `maybe` is a value in the same word. */
type KnownOptions = ReadonlyMap<string, 'none' | 'value' | 'maybe'>;

/** `n=` takes a value, `stat?` may have one. `#` is a number (`-5`). */
function options(...lists: readonly string[]): KnownOptions {
  const names = lists
    .join(' ')
    .split(/\s+/)
    .filter((name) => name !== '');
  return new Map(
    names.map((name): [string, 'none' | 'value' | 'maybe'] => {
      if (name.endsWith('=')) return [name.slice(0, -1), 'value'];
      return name.endsWith('?') ? [name.slice(0, -1), 'maybe'] : [name, 'none'];
    }),
  );
}

function readArguments(args: readonly string[], known: KnownOptions | 'any'): GitArguments {
  const read = { options: new Set<string>(), operands: [] as string[], values: [] as string[] };
  let isKnown = true;
  let isOver = false;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (isOver || !/^-./.test(word)) {
      // Without quotes an expansion can also become an option.
      if (!isOver && EXPANSION.test(word)) read.options.add('$');
      read.operands.push(word);
    } else if (word === '--') isOver = true;
    else if (known === 'any') read.options.add(word);
    else {
      const next = args[at + 1];
      const option = word.startsWith('--') ? readLong(word, known) : readLetters(word, known);
      for (const name of option.names) read.options.add(name);
      if (option.value !== undefined) read.values.push(option.value);
      isKnown &&= option.isKnown;
      if (option.takesNext && next !== undefined) {
        read.values.push(next);
        at++;
      }
    }
  }
  return { ...read, isKnown };
}

const EXPANSION = /^[$`]/;

interface ReadOption {
  readonly names: readonly string[];
  readonly isKnown: boolean;
  readonly value?: string;
  readonly takesNext?: boolean;
}

/** Git also takes the beginning of a name. Here that is unknown. */
function readLong(word: string, known: KnownOptions): ReadOption {
  const [, name = '', value] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
  const kind = known.get(name);
  if (kind === undefined || name.length < 2) return { names: [name], isKnown: false };
  if (value !== undefined) return { names: [name], isKnown: kind !== 'none', value };
  return { names: [name], isKnown: true, takesNext: kind === 'value' };
}

function readLetters(word: string, known: KnownOptions): ReadOption {
  if (/^-\d+$/.test(word)) return { names: ['#'], isKnown: known.has('#') };
  const names: string[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    const kind = known.get(letter);
    const value = word.slice(at + 1);
    names.push(letter);
    if (kind === undefined) return { names, isKnown: false };
    if (kind === 'none') continue;
    if (value !== '') return { names, isKnown: true, value };
    return { names, isKnown: true, takesNext: kind === 'value' };
  }
  return { names, isKnown: true };
}

/** They leave the patch out, where one would come. */
const BRIEF = `s no-patch stat? shortstat numstat dirstat? cumulative summary compact-summary name-only
  name-status raw quiet`;

const COMPARING = `M? C? B? R S= G= l= O= z a w b find-renames? find-copies? no-renames
  rename-empty no-rename-empty pickaxe-regex pickaxe-all diff-filter= find-object= relative? no-relative
  abbrev? no-abbrev full-index color? no-color no-ext-diff no-textconv text ignore-all-space
  ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-submodules? exit-code
  diff-algorithm= patience minimal histogram stat-width= stat-count= stat-name-width= merge-base
  end-of-options no-prefix no-indent-heuristic indent-heuristic`;

const WALKING = `n= # i E F P g max-count= skip= since= after= until= before= author= committer= grep=
  grep-reflog= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp basic-regexp
  merges no-merges min-parents= max-parents= first-parent exclude-first-parent-only not all branches?
  tags? remotes? glob= exclude= reflog alternate-refs single-worktree ignore-missing cherry cherry-mark
  cherry-pick left-only right-only left-right walk-reflogs boundary simplify-by-decoration full-history
  dense sparse simplify-merges ancestry-path? show-pulls date-order author-date-order topo-order
  reverse no-walk? parents children graph no-graph oneline pretty? format= abbrev-commit
  no-abbrev-commit date= relative-date decorate? no-decorate decorate-refs= decorate-refs-exclude=
  source mailmap no-mailmap use-mailmap follow full-diff log-size notes? no-notes show-notes?
  show-signature no-show-signature encoding= expand-tabs? no-expand-tabs line-prefix= stdin
  clear-decorations`;

const LOG = options(WALKING, COMPARING, BRIEF);

/** About a patch, or one that brings it. */
const PATCH = `p u U= patch unified= patch-with-stat patch-with-raw W function-context word-diff?
  word-diff-regex= color-words? color-moved? no-color-moved check ws-error-highlight= binary
  inter-hunk-context= src-prefix= dst-prefix= submodule? ext-diff textconv`;

const MERGING = `m= F= q v n e S? s= X= q quiet verbose edit no-edit ff no-ff ff-only squash no-squash
  commit no-commit stat no-stat log? no-log message= file= strategy= strategy-option= signoff no-signoff
  gpg-sign? no-gpg-sign verify no-verify verify-signatures no-verify-signatures
  allow-unrelated-histories autostash no-autostash rerere-autoupdate no-rerere-autoupdate progress
  no-progress abort continue quit skip cleanup= into-name= no-summary`;

const FETCHING = `a all append atomic depth= deepen= shallow-since= shallow-exclude= unshallow
  update-shallow dry-run f force k keep multiple p prune P prune-tags n no-tags t tags refmap=
  recurse-submodules? no-recurse-submodules j= jobs= set-upstream u q quiet v verbose progress
  no-progress o= server-option= 4 6 ipv4 ipv6 filter= prefetch no-auto-gc no-auto-maintenance
  auto-gc auto-maintenance write-fetch-head no-write-fetch-head update-head-ok porcelain
  show-forced-updates no-show-forced-updates negotiate-only negotiation-tip=`;

const CHECKING_OUT = `q quiet progress no-progress f force ours theirs 1 2 3 b= B= c= C= create= force-create=
  t? track? no-track guess no-guess l d detach orphan= ignore-skip-worktree-bits m merge conflict=
  ignore-other-worktrees recurse-submodules? no-recurse-submodules overlay no-overlay
  pathspec-from-file= pathspec-file-nul discard-changes`;

const LISTING_REFS = `contains? no-contains? merged? no-merged? points-at= sort= i ignore-case color?
  no-color column? no-column format= omit-empty`;

/** Of refs that lead to a file: see git-for-each-ref(1). */
const refs = ({ values }: GitArguments): Reveal =>
  values.some((value) => /raw|contents/.test(value)) ? 'all' : 'nothing';

const isStaged = ({ options }: GitArguments) => options.has('cached') || options.has('staged');
const BRIEF_NAMES = new Set(options(BRIEF).keys());
const isBrief = ({ options }: GitArguments) =>
  [...options].some((name) => BRIEF_NAMES.has(name)) &&
  ![...options].some((name) => name === '$' || PATCH_NAMES.has(name));
const PATCH_NAMES = new Set(options(PATCH).keys());

/** `HEAD:a`, and `:0:a` of the index: what git prints is that file, or the names in that folder. */
const isPath = (operand: string) => /^(?:[\w./~^@-]*|:[0-3]):[^/:][^:]*$/.test(operand);
const arePaths = (operands: readonly string[]) => operands.length > 0 && operands.every(isPath);

/** An id can be a file's. A name is taken for a commit's. */
const canBeFile = (operand: string) =>
  /^[\da-f]{4,64}$/i.test(operand) || /[:$`*?{]/.test(operand) || /\^\{(?!commit\})/.test(operand);

const unlessExpanded = ({ options }: GitArguments): Reveal => (options.has('$') ? 'all' : 'brief');

const COMMANDS: ReadonlyMap<string, GitCommand> = new Map<string, GitCommand>([
  // Without operands it compares with files that commands do not see.
  [
    'diff',
    {
      options: options(WALKING, COMPARING, BRIEF, PATCH, 'cached staged'),
      prints: (args) =>
        isBrief(args) || (args.operands.length === 0 && !isStaged(args)) ? 'brief' : 'all',
    },
  ],
  ['log', { options: LOG, prints: unlessExpanded }],
  ['reflog', { options: LOG, prints: unlessExpanded }],
  ['whatchanged', { options: LOG, prints: unlessExpanded }],
  [
    'show',
    {
      options: LOG,
      prints: (args) => {
        if (arePaths(args.operands)) return 'named';
        return isBrief(args) && !args.operands.some(canBeFile) ? 'brief' : 'all';
      },
    },
  ],
  ...['diff-files', 'diff-index', 'diff-tree'].map((name): [string, GitCommand] => [
    name,
    {
      options: options(WALKING, COMPARING, BRIEF, 'r t root always no-commit-id cached q'),
      prints: unlessExpanded,
    },
  ]),
  [
    'stash',
    {
      options: options(
        WALKING,
        BRIEF,
        'm= message= u include-untracked only-untracked no-include-untracked k keep-index',
        'no-keep-index S staged q index a all pathspec-from-file= pathspec-file-nul',
      ),
      actions: words(' push save list show pop apply drop clear branch create store'),
      prints: ({ operands: [action] }) => (action === 'show' ? 'brief' : 'nothing'),
      fills: true,
    },
  ],
  ['blame', { options: 'any', prints: 'named' }],
  ['annotate', { options: 'any', prints: 'named' }],
  [
    'cat-file',
    {
      options: options('t s e p'),
      prints: ({ options, operands }) => {
        if (arePaths(operands)) return 'named';
        return options.size > 0 && !options.has('p') && !options.has('$') ? 'brief' : 'all';
      },
    },
  ],
  [
    'grep',
    {
      options: options(
        'a text I r recursive no-recursive i ignore-case w word-regexp v invert-match h H full-name E',
        'extended-regexp G basic-regexp P perl-regexp F fixed-strings n line-number column l',
        'files-with-matches name-only L files-without-match z null o only-matching c count color?',
        'no-color break heading p show-function A= B= C= # after-context= before-context= context=',
        'W function-context m= max-count= max-depth= threads= f= e= and or not all-match q quiet',
        'untracked no-untracked no-index exclude-standard no-exclude-standard textconv no-textconv',
        'recurse-submodules',
      ),
      prints: ({ options, operands }) =>
        operands.length > (options.has('e') || options.has('f') ? 0 : 1) ? 'all' : 'brief',
    },
  ],

  [
    'status',
    quiet(`s b z short branch no-branch show-stash no-show-stash porcelain? long u? untracked-files?
      ignored? ignore-submodules? column? no-column ahead-behind no-ahead-behind renames no-renames
      find-renames?`),
  ],
  [
    'add',
    quiet(`n dry-run v verbose f force sparse u update A all no-all ignore-removal
      no-ignore-removal N intent-to-add refresh ignore-errors ignore-missing renormalize chmod=
      pathspec-from-file= pathspec-file-nul`),
  ],
  ['stage', quiet('A all u update')],
  [
    'commit',
    quiet(`a all C= c= reuse-message= reedit-message= fixup= squash= reset-author short branch
      porcelain long z null F= file= author= date= m= message= t= template= s signoff no-signoff
      trailer= n verify no-verify allow-empty allow-empty-message cleanup= e edit no-edit amend
      no-post-rewrite i include o only pathspec-from-file= pathspec-file-nul u? untracked-files?
      q quiet status no-status S? gpg-sign? no-gpg-sign dry-run`),
  ],
  [
    'branch',
    listing(`d D m M c C delete move copy f force l list show-current v vv verbose q quiet abbrev=
      no-abbrev t? track? no-track u= set-upstream-to= unset-upstream a all r remotes create-reflog
      recurse-submodules`),
  ],
  [
    'tag',
    listing(`a annotate s sign no-sign u= local-user= f force d delete v verify n? # l list m=
      message= F= file= trailer= e edit cleanup= create-reflog`),
  ],
  [
    'for-each-ref',
    listing(`count= shell perl python tcl include-root-refs stdin start-after= exclude=`),
  ],
  [
    'push',
    quiet(`all branches prune mirror n dry-run porcelain d delete tags follow-tags no-follow-tags
      signed? no-signed atomic no-atomic o= push-option= force-with-lease? no-force-with-lease
      force-if-includes no-force-if-includes f force repo= u set-upstream thin no-thin q quiet v
      verbose progress no-progress recurse-submodules= no-recurse-submodules verify no-verify 4 6 ipv4
      ipv6`),
  ],
  ['fetch', quiet(FETCHING)],
  ['pull', filling(FETCHING, MERGING, 'r? rebase? no-rebase')],
  ['merge', filling(MERGING)],
  ['checkout', filling(CHECKING_OUT)],
  ['switch', filling(CHECKING_OUT)],
  ['restore', filling(CHECKING_OUT, 's= source= W worktree S staged ignore-unmerged')],
  [
    'reset',
    filling(`soft mixed hard merge keep q quiet no-quiet refresh no-refresh N intent-to-add
      recurse-submodules? no-recurse-submodules pathspec-from-file= pathspec-file-nul`),
  ],
  [
    'rebase',
    filling(
      MERGING,
      `onto= i interactive r? rebase-merges? no-rebase-merges root autosquash no-autosquash
      keep-base f force-rebase no-ff fork-point no-fork-point update-refs no-update-refs empty=
      keep-empty no-keep-empty reapply-cherry-picks no-reapply-cherry-picks committer-date-is-author-date
      ignore-date reset-author-date ignore-whitespace apply merge edit-todo reschedule-failed-exec
      no-reschedule-failed-exec C=`,
    ),
  ],
  [
    'cherry-pick',
    filling(MERGING, 'x mainline= allow-empty allow-empty-message keep-redundant-commits empty='),
  ],
  ['revert', filling(MERGING, 'mainline= reference')],
  [
    'apply',
    filling(`stat numstat summary check index cached intent-to-add N 3 3way build-fake-ancestor= R
      reverse reject z p= C= unidiff-zero apply no-add exclude= include= ignore-space-change
      ignore-whitespace whitespace= inaccurate-eof v verbose q quiet recount directory= unsafe-paths
      allow-empty binary allow-binary-replacement`),
  ],
  [
    'am',
    filling(`s signoff k keep keep-non-patch no-keep-cr keep-cr c scissors no-scissors q quiet u utf8
      no-utf8 3 3way no-3way ignore-space-change ignore-whitespace whitespace= C= p= directory=
      exclude= include= reject patch-format= continue r resolved skip abort quit S? gpg-sign?
      no-gpg-sign no-verify empty= allow-empty committer-date-is-author-date ignore-date`),
  ],
  [
    'worktree',
    {
      ...quiet('porcelain z v verbose n dry-run expire= f force reason='),
      actions: words('list prune remove lock unlock move repair'),
    },
  ],
  [
    'bisect',
    {
      ...filling('term-old= term-new= term-good= term-bad= no-checkout first-parent'),
      actions: words('start good bad old new skip reset log replay terms run help'),
    },
  ],
  [
    'submodule',
    {
      ...filling(`q quiet init N no-fetch remote checkout merge rebase f force recursive reference=
      depth= recommend-shallow no-recommend-shallow single-branch no-single-branch j= jobs=
      progress filter= b= branch= name= default all cached`),
      actions: words(
        ' add status init deinit update set-branch set-url sync absorbgitdirs foreach',
      ),
    },
  ],
  [
    'lfs',
    {
      ...quiet('l long s size d deleted n name a all json I= X= include= exclude= local force'),
      actions: words('install uninstall track untrack ls-files status env version pull push fetch'),
      fills: true,
    },
  ],
  [
    'config',
    quiet(`global system local worktree f= file= add replace-all get get-all get-regexp
      get-urlmatch unset unset-all remove-section rename-section l list z null name-only type= bool
      int path bool-or-int expiry-date show-origin show-scope includes no-includes default= all
      regexp url= value= fixed-value append comment= show-names no-show-names no-type get-color
      get-colorbool`),
  ],
  [
    'rev-list',
    quiet(
      WALKING,
      `count objects objects-edge no-object-names quiet no-commit-header commit-header
      timestamp bisect bisect-vars bisect-all disk-usage? filter= missing= use-bitmap-index unpacked
      object-names in-commit-order header abbrev?`,
    ),
  ],
  ['shortlog', quiet(WALKING, 's e c n summary numbered email w? group= committer')],
  ['rerere', { ...quiet(''), actions: words('status clear forget gc remaining') }],
  ['notes', { ...quiet('ref='), actions: words('list remove prune get-ref') }],
  [
    'sparse-checkout',
    { ...filling('cone no-cone sparse-index no-sparse-index skip-checks stdin') },
  ],
  // They print names, ids and figures, whatever the option.
  ...[
    ...'check-attr check-ignore check-mailmap check-ref-format cherry clean commit-graph count-objects'.split(
      ' ',
    ),
    ...'describe fsck gc help init init-db ls-files ls-remote ls-tree maintenance merge-base mv name-rev'.split(
      ' ',
    ),
    ...'pack-refs patch-id prune prune-packed remote repack rev-parse rm show-branch show-ref'.split(
      ' ',
    ),
    ...'stripspace symbolic-ref update-ref verify-commit verify-pack verify-tag version write-tree'.split(
      ' ',
    ),
  ].map((name): [string, GitCommand] => [name, { options: 'any', prints: 'nothing' }]),
]);

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

function quiet(...lists: readonly string[]): GitCommand {
  return { options: options(...lists), prints: 'nothing' };
}

function filling(...lists: readonly string[]): GitCommand {
  return { ...quiet(...lists), fills: true };
}

function listing(list: string): GitCommand {
  return { options: options(list, LISTING_REFS), prints: refs };
}
