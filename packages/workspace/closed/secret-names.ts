/** The one table of names that nothing reads: keys and credentials. File tools, searches, sandbox and index use it. */
import { words } from '../../../machine/words.ts';

/** Names of one program, or of one kind of key. */
export interface SecretNames {
  /**
   * In lower case, at any depth. `*` stands for any characters. A `/` at the end: a folder with all in it. A `/` within:
   * the part before it names the folder around.
   */
  readonly names: readonly string[];
  /** The documentation that says of each name what it holds. */
  readonly source: string;
}

/**
 * A name is in the table if its documentation says that the file holds a credential. Files that only may hold one beside
 * what a project needs every day (`gradle.properties`, `appsettings.json`) are not: machine/secrets masks it there.
 */
export const SECRET_NAMES: readonly SecretNames[] = [
  row('.ssh/ id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk', 'ssh-keygen(1)'),
  row('deploy_key', 'docs.github.com: Managing deploy keys'),
  row('.gnupg/ secring.gpg', 'gpg(1)'),
  row('*.pem *.key', 'openssl-pkey(1)'),
  row('*.p12 *.pfx', 'openssl-pkcs12(1)'),
  row('*.jks *.keystore', 'keytool(1)'),
  row('*.p8', 'developer.apple.com: Creating API keys'),
  row('*.ppk', 'PuTTY user manual: Using PuTTYgen'),
  row('*.kdbx', 'keepass.info: Key files'),
  row('*.agekey age/keys.txt', 'getsops.io/docs: Encrypting using age; fluxcd.io: SOPS'),
  row('*.ovpn', 'openvpn(8): inline files'),
  row('wg0.conf wg1.conf', 'wg-quick(8)'),
  row('.env .env.* *.env env.local', 'docs.docker.com: env_file; README of dotenv'),
  row('.envrc', 'direnv(1)'),
  row('.dev.vars .dev.vars.*', 'developers.cloudflare.com: Workers, Secrets'),
  row('.wrangler/config/', 'developers.cloudflare.com: wrangler login'),
  row('.netrc _netrc', 'curl: .netrc'),
  row('.git-credentials', 'git-credential-store(1)'),
  row('.npmrc', 'docs.npmjs.com: npmrc'),
  row('.yarnrc.yml', 'yarnpkg.com: yarnrc, npmAuthToken'),
  row('.pypirc', 'packaging.python.org: The .pypirc file'),
  row('.gem/credentials', 'guides.rubygems.org: API key'),
  row('.cargo/credentials .cargo/credentials.toml', 'doc.rust-lang.org/cargo: cargo login'),
  row('nuget.config', 'learn.microsoft.com: nuget.config, packageSourceCredentials'),
  row(
    '.m2/settings.xml .m2/settings-security.xml',
    'maven.apache.org: Settings, servers; Password encryption',
  ),
  row('.sbt/.credentials .ivy2/.credentials', 'scala-sbt.org: Publishing, Credentials'),
  row('pip.conf pip.ini', 'pip.pypa.io: Authentication, credentials in index-url'),
  row(
    'auth.json',
    'getcomposer.org: HTTP basic; opencode.ai and developers.openai.com/codex: Auth',
  ),
  row('.pgpass', 'PostgreSQL: The password file'),
  row(
    '.pgservice.conf .pg_service.conf pg_service.conf',
    'PostgreSQL: The connection service file',
  ),
  row('.my.cnf .mylogin.cnf', 'MySQL: Option files, mysql_config_editor'),
  row('profiles.yml', 'docs.getdbt.com: profiles.yml'),
  row('connections.toml .snowflake/', 'docs.snowflake.com: connections.toml'),
  row('.databrickscfg', 'docs.databricks.com: Configuration profiles'),
  row('.htpasswd', 'htpasswd(1)'),
  row('wp-config.php', 'developer.wordpress.org: wp-config.php'),
  row('.aws/', 'docs.aws.amazon.com: Configuration and credential file settings'),
  row('.boto', 'cloud.google.com: boto configuration'),
  row('.s3cfg', 's3tools.org: s3cmd'),
  row('.passwd-s3fs', 's3fs(1)'),
  row('.oci/config', 'docs.oracle.com: SDK and CLI configuration file'),
  row('.cloudflared/', 'developers.cloudflare.com: Tunnel, Useful terms, credentials file'),
  row('.azure/', 'learn.microsoft.com: Azure CLI configuration'),
  row('local.settings.json', 'learn.microsoft.com: Azure Functions, Local settings file'),
  row(
    `service-account*.json service_account*.json serviceaccount*.json gcp-key*.json
    google-credentials*.json *firebase-adminsdk-*.json`,
    'cloud.google.com: Create service account keys; firebase.google.com: Admin SDK',
  ),
  row(
    'application_default_credentials.json .config/gcloud/ client_secret*.json credentials.json',
    'cloud.google.com: Application Default Credentials; developers.google.com: OAuth clients',
  ),
  row('.clasprc.json', 'README of clasp'),
  row('kaggle.json', 'README of kaggle-api: API credentials'),
  row('.sentryclirc', 'docs.sentry.io: CLI, Configuration and authentication'),
  row('.vscode/sftp.json', 'README of vscode-sftp: password, passphrase'),
  row('.kube/ kubeconfig kubeconfig.* *.kubeconfig', 'kubernetes.io: kubeconfig files'),
  row('.docker/config.json .dockercfg', 'docs.docker.com: docker login'),
  row('*.tfvars *.tfvars.json', 'developer.hashicorp.com: Terraform, Sensitive data'),
  row('*.tfstate *.tfstate.backup terraform.tfstate.*', 'the same: State, Sensitive data'),
  row('.terraformrc terraform.rc credentials.tfrc.json', 'the same: CLI configuration'),
  row('.vault-token', 'developer.hashicorp.com: Vault, login'),
  row('.vault_pass* vault_pass* .ansible_vault_pass*', 'docs.ansible.com: Vault passwords'),
  row('.rclone.conf rclone.conf', 'rclone.org/docs: Configure'),
  row('.secrets .secrets.*', 'dynaconf.com: Secrets; README of act'),
  row(
    'secrets.yml secrets.yaml secrets.json secrets.toml',
    'guides.rubyonrails.org; docs.streamlit.io',
  ),
  row('.expo/state.json', 'docs.expo.dev: .expo'),
  row('key.properties', 'docs.flutter.dev: Sign the app'),
  row('local.properties', 'developer.android.com: Build configuration'),
  row('cookies.txt', 'curl: HTTP cookies'),
  row('.msmtprc .fetchmailrc .mailrc', 'msmtp(1); fetchmail(1); mailx(1)'),
  row(
    '.bash_history .zsh_history .history/ .psql_history .mysql_history .rediscli_history .dbshell',
    'bash(1); zsh(1); tcsh(1); psql(1); mysql(1); redis-cli; mongo: what was typed',
  ),
  row(
    '.python_history .node_repl_history .irb_history .sqlite_history',
    'docs.python.org: site; nodejs.org: REPL; irb; wiki.archlinux.org: XDG Base Directory, SQLite',
  ),
  row(
    `.mcp.json .cursor/mcp.json .vscode/mcp.json .roo/mcp.json .amazonq/mcp.json settings/mcp.json
    windsurf/mcp_config.json`,
    `modelcontextprotocol.io; cursor.com/docs; code.visualstudio.com; docs.aws.amazon.com: Amazon Q
    Developer; kiro.dev/docs; docs.windsurf.com: env and headers of servers`,
  ),
  row('.claude.json .claude/.credentials.json', 'docs.claude.com: Claude Code, Authentication'),
  row('.gemini/oauth_creds.json .qwen/oauth_creds.json', 'geminicli.com/docs: Authentication'),
  row('.aider.conf.yml', 'aider.chat/docs/config: API keys'),
  row('.continue/config.json .continue/config.yaml', 'docs.continue.dev: apiKey'),
];

/** Names of files that look like secrets and hold none: examples that people copy, and hashes of detect-secrets. */
export const EXAMPLE_FILES = words(`
  *.example *.sample *.template *.dist .env.example.* .env.sample.* example.env sample.env
  example.tfvars sample.tfvars *.example.json *-example.json *.sample.json .secrets.baseline
`);

/** What editors and programs put at the end of a name for the file's earlier content: Emacs, sed(1), patch(1), nano(1). */
export const BACKUP_ENDS = ['~', '.bak', '.orig', '.old', '.save'] as const;

/**
 * Whether the folder around shows that the name is of another kind: templates of a chart for Kubernetes, and texts of a
 * language (`locales/en/auth.json`).
 */
export function isOtherKind(folder: string, name: string): boolean {
  if (name === 'auth.json') return /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,2}$/.test(folder);
  return folder === 'templates' && /^secrets\.ya?ml$/.test(name);
}

function row(names: string, source: string): SecretNames {
  return { names: words(names), source };
}
