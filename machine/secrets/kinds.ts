/** The one table of tokens in a documented form: a prefix that belongs to one issuer, and the form of what follows. */
import { crc32 } from 'node:zlib';

/** Tokens that are shown as `[secret: KIND]`. */
export interface TokenKind {
  /** Short: a mask is no longer than the shortest token, so that masked texts stay within their bounds. */
  readonly kind: string;
  readonly prefixes: readonly string[];
  /** Stands between the prefix and the token, for a prefix that only names what follows. It stays. */
  readonly lead?: RegExp;
  /** The characters of the token after the prefix: the class of an expression. */
  readonly chars: string;
  /** How many there are, and how many at most. */
  readonly length: readonly [number, number];
  /** The form of these characters, where it says more. */
  readonly form?: RegExp;
  /** Whether the characters are a token's, where no expression can say it. */
  readonly fits?: (body: string) => boolean;
  /** Whether characters of the right form and length are no token of this kind. Only by a rule that its issuer publishes. */
  readonly isNoToken?: (body: string) => boolean;
  /** The documentation of the form: the issuer's, or that of a scanner which lists it. */
  readonly source: string;
}

const BASE62 = 'A-Za-z0-9';
const URL_SAFE = '\\w-';
const HEX = 'a-f0-9';
const ANY_HEX = 'A-Fa-f0-9';
const GITHUB = 'docs.github.com: About authentication';
const CHECKSUM = 'github.blog: new authentication token formats';
const UUID = /^[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}$/;
const GITLEAKS = 'github.com/gitleaks/gitleaks: config';

export const TOKEN_KINDS: readonly TokenKind[] = [
  kind('GitHub token', 'ghp_ gho_ ghu_ ghr_', BASE62, [36, 255], `${GITHUB}; ${CHECKSUM}`, {
    isNoToken: hasWrongChecksum,
  }),
  kind('GitHub token', 'ghs_', `${BASE62}_.-`, [36, 2_000], `${GITHUB}; ${CHECKSUM}`, {
    isNoToken: hasWrongChecksum,
  }),
  kind('GitHub token', 'github_pat_', `${BASE62}_`, 82, GITHUB),
  kind(
    'GitLab token',
    'glpat- gldt- glrt- glft- glcbt- glptt- glffct- glimt- glagent- glsoat- gloas- glwt-',
    `${URL_SAFE}.`,
    [20, 320],
    'docs.gitlab.com: Token overview',
  ),
  kind('GitLab token', 'GR1348941', URL_SAFE, 20, 'the same'),
  kind(
    'AWS key id',
    'AKIA ASIA ABIA ACCA',
    'A-Z2-7',
    16,
    'docs.aws.amazon.com: Unique identifiers',
  ),
  {
    kind: 'AWS secret key',
    prefixes: ['aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY', 'SecretAccessKey'],
    lead: /\\?["']?[\t ]{0,8}[:=,][\t ]{0,8}\\?["']?/y,
    chars: `${BASE62}/+`,
    length: [40, 40],
    form: /[^a-f0-9]/,
    source: 'docs.aws.amazon.com: Access keys',
  },
  kind('AWS key', 'ABSK', `${BASE62}+/=`, [109, 272], `${GITLEAKS}, Bedrock`),
  kind('Google key', 'AIza', URL_SAFE, 35, 'cloud.google.com: API keys'),
  kind('Google token', 'ya29.', `${URL_SAFE}.`, [30, 2_000], 'developers.google.com: OAuth'),
  kind('Google secret', 'GOCSPX-', URL_SAFE, 28, 'developers.google.com: OAuth clients'),
  kind(
    'Azure key',
    'AccountKey=',
    `${BASE62}+/=`,
    88,
    'learn.microsoft.com: Storage connection strings',
    {
      form: /^[A-Za-z0-9+/]{86}==$/,
    },
  ),
  kind(
    'Slack token',
    'xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xox',
    `${BASE62}.-`,
    [24, 400],
    'docs.slack.dev: Tokens',
    {
      form: /^(?:[bp]-)?\d[\d-]*-?[A-Za-z0-9-]*$/,
    },
  ),
  kind('Slack token', 'xapp-', `${BASE62}-`, [24, 200], 'docs.slack.dev: Tokens', {
    form: /^\d-[A-Z0-9]+-\d+-[a-z0-9]+$/i,
  }),
  kind(
    'Slack webhook',
    'hooks.slack.com/services/',
    `${BASE62}/`,
    [40, 60],
    'docs.slack.dev: Incoming webhooks',
    {
      form: /^T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]{20,}$/,
    },
  ),
  kind(
    'Discord webhook',
    'discord.com/api/webhooks/ discordapp.com/api/webhooks/',
    `${URL_SAFE}/`,
    [70, 110],
    'discord.com/developers: Webhook',
    {
      form: /^\d{17,20}\/[\w-]{60,}$/,
    },
  ),
  kind(
    'Stripe key',
    'sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_',
    BASE62,
    [16, 120],
    'docs.stripe.com: API keys',
  ),
  kind('Stripe secret', 'whsec_', `${BASE62}+/=`, [32, 64], 'docs.stripe.com: Webhooks'),
  kind('Anthropic key', 'sk-ant-', URL_SAFE, [80, 140], 'platform.claude.com: API keys'),
  kind(
    'OpenAI key',
    'sk-proj- sk-svcacct- sk-admin-',
    URL_SAFE,
    [40, 200],
    'platform.openai.com: API keys',
  ),
  kind('OpenAI key', 'sk-', BASE62, 48, `${GITLEAKS}, OpenAI`, { form: /^.{20}T3BlbkFJ.{20}$/ }),
  kind('OpenRouter key', 'sk-or-v1-', HEX, 64, 'openrouter.ai/docs: Authentication'),
  kind('Hugging Face token', 'hf_', 'A-Za-z', 34, 'huggingface.co/docs: User access tokens'),
  kind('Groq key', 'gsk_', BASE62, 52, 'console.groq.com/docs'),
  kind('xAI key', 'xai-', BASE62, 80, 'docs.x.ai'),
  kind('Perplexity key', 'pplx-', BASE62, 48, GITLEAKS),
  kind('Replicate token', 'r8_', BASE62, 37, 'replicate.com/docs'),
  kind('LangSmith key', 'lsv2_pt_ lsv2_sk_', `${HEX}_`, 43, 'docs.smith.langchain.com', {
    form: /^[a-f0-9]{32}_[a-f0-9]{10}$/,
  }),
  kind(
    'npm token',
    'npm_',
    BASE62,
    36,
    'docs.npmjs.com: About access tokens; github.blog: npm’s new access token format',
    { isNoToken: hasWrongChecksum },
  ),
  kind(
    'PyPI token',
    'pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZ',
    URL_SAFE,
    [50, 1_000],
    'pypi.org/help: API tokens',
  ),
  kind('RubyGems key', 'rubygems_', HEX, 48, 'guides.rubygems.org: API key'),
  kind('crates.io token', 'cio', BASE62, 32, 'doc.rust-lang.org/cargo: crates.io tokens'),
  kind('NuGet key', 'oy2', 'a-z0-9', 43, 'learn.microsoft.com: NuGet API keys'),
  kind('Clojars token', 'CLOJARS_', HEX, 60, 'github.com/clojars/clojars-web: Deploy tokens'),
  kind('Docker token', 'dckr_pat_ dckr_oat_', URL_SAFE, [27, 40], 'docs.docker.com: Access tokens'),
  kind(
    'DigitalOcean token',
    'dop_v1_ doo_v1_ dor_v1_',
    HEX,
    64,
    'docs.digitalocean.com: API tokens',
  ),
  kind('Heroku key', 'HRKU-AA', URL_SAFE, 58, 'devcenter.heroku.com: Platform API'),
  kind('Fly.io token', 'fo1_', URL_SAFE, 43, 'fly.io/docs: Access tokens'),
  kind(
    'Fly.io token',
    'fm2_ fm1a_ fm1r_',
    `${BASE62}+/=`,
    [100, 2_000],
    'fly.io/docs: Access tokens',
  ),
  kind('Netlify token', 'nfp_', BASE62, [36, 60], 'docs.netlify.com: API'),
  kind('Supabase key', 'sbp_', HEX, 40, 'supabase.com/docs: Management API'),
  kind('Supabase key', 'sb_secret_', URL_SAFE, [31, 50], 'supabase.com/docs: API keys'),
  kind(
    'PlanetScale key',
    'pscale_tkn_ pscale_pw_ pscale_oauth_',
    `${URL_SAFE}=.`,
    [32, 64],
    'planetscale.com/docs',
  ),
  kind('Databricks token', 'dapi', `${HEX}-`, [32, 34], 'docs.databricks.com: Access tokens', {
    form: /^[a-f0-9]{32}(?:-\d)?$/,
  }),
  kind(
    'Vault token',
    'hvs. hvb. hvr.',
    URL_SAFE,
    [90, 320],
    'developer.hashicorp.com: Vault tokens',
  ),
  kind(
    'Doppler token',
    'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.',
    `${BASE62}._-`,
    [40, 80],
    'docs.doppler.com: Token formats',
  ),
  kind(
    '1Password token',
    'ops_eyJ',
    `${BASE62}+/=_-`,
    [250, 2_000],
    'developer.1password.com: Service accounts',
  ),
  kind(
    'age key',
    'AGE-SECRET-KEY-1',
    'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
    58,
    'age-encryption.org: v1',
  ),
  kind('Pulumi token', 'pul-', HEX, 40, 'pulumi.com/docs: Access tokens'),
  kind('Grafana token', 'glsa_', `${BASE62}_`, 41, 'grafana.com/docs: Service accounts', {
    form: /^[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}$/,
  }),
  kind('Grafana token', 'glc_', `${BASE62}+/=`, [32, 400], 'grafana.com/docs: Access policies'),
  kind('Sentry token', 'sntryu_', HEX, 64, 'docs.sentry.io: Auth tokens'),
  kind('Sentry token', 'sntrys_eyJ', `${BASE62}+/=_`, [60, 600], 'docs.sentry.io: Auth tokens'),
  kind('New Relic key', 'NRAK-', 'A-Z0-9', 27, 'docs.newrelic.com: API keys'),
  kind('Dynatrace token', 'dt0c01. dt0s01.', 'A-Z0-9.', 89, 'docs.dynatrace.com: Token format', {
    form: /^[A-Z0-9]{24}\.[A-Z0-9]{64}$/,
  }),
  kind('SendGrid key', 'SG.', `${URL_SAFE}.`, 66, 'twilio.com/docs: SendGrid API keys', {
    form: /^[\w-]{22}\.[\w-]{43}$/,
  }),
  kind('Brevo key', 'xkeysib-', `${BASE62}-`, 81, GITLEAKS, {
    form: /^[a-f0-9]{64}-[A-Za-z0-9]{16}$/,
  }),
  kind('Mailgun key', 'key-', HEX, 32, `${GITLEAKS}, Mailgun`),
  kind('Shopify token', 'shpat_ shpca_ shppa_ shpss_', ANY_HEX, 32, 'shopify.dev: Access tokens'),
  kind(
    'Square token',
    'sq0atp- sq0csp- EAAA',
    URL_SAFE,
    [43, 60],
    'developer.squareup.com: Access tokens',
  ),
  kind('EasyPost key', 'EZAK EZTK', BASE62, 54, GITLEAKS),
  kind('Linear key', 'lin_api_ lin_oauth_', BASE62, [40, 64], 'linear.app/developers'),
  kind('Notion token', 'ntn_', BASE62, 46, 'developers.notion.com: Authentication'),
  kind('Figma token', 'figd_', URL_SAFE, [40, 60], 'developers.figma.com: Access tokens'),
  kind('Postman key', 'PMAK-', `${ANY_HEX}-`, 59, 'learning.postman.com: API keys', {
    form: /^[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}$/,
  }),
  kind('Airtable token', 'pat', `${BASE62}.`, 79, 'airtable.com/developers: Access tokens', {
    form: /^[A-Za-z0-9]{14}\.[a-f0-9]{64}$/,
  }),
  kind(
    'Atlassian token',
    'ATATT3 ATCTT3 ATBB',
    `${URL_SAFE}=`,
    [28, 250],
    'support.atlassian.com: API tokens',
  ),
  kind('Artifactory key', 'AKCp', BASE62, 69, 'jfrog.com/help: API key'),
  kind('Artifactory token', 'cmVmdGtu', BASE62, 56, 'jfrog.com/help: Reference token'),
  kind('Cloudflare key', 'v1.0-', `${HEX}-`, 171, 'developers.cloudflare.com: Origin CA keys', {
    form: /^[a-f0-9]{24}-[a-f0-9]{146}$/,
  }),
  kind('ReadMe key', 'rdme_', 'a-z0-9', 70, GITLEAKS),
  kind('Shippo token', 'shippo_live_ shippo_test_', ANY_HEX, 40, GITLEAKS),
  kind('Prefect key', 'pnu_', BASE62, 36, GITLEAKS),
  kind('OpenShift token', 'sha256~', URL_SAFE, 43, 'docs.openshift.com: OAuth tokens'),
  kind('Alibaba key id', 'LTAI', BASE62, 20, `${GITLEAKS}, Alibaba`),
  kind('Adobe secret', 'p8e-', 'A-Za-z0-9', 32, `${GITLEAKS}, Adobe`),
  kind('Facebook token', 'EAAM EAAC', BASE62, [100, 400], `${GITLEAKS}, Facebook`),
  kind(
    'Plaid token',
    'access-sandbox- access-development- access-production-',
    `${HEX}-`,
    36,
    `${GITLEAKS}, Plaid`,
    { form: UUID },
  ),
  kind('Sonar token', 'squ_ sqp_ sqa_', HEX, 40, `${GITLEAKS}, Sonar`),
  kind('Sourcegraph token', 'sgp_', `${ANY_HEX}local_`, [40, 57], `${GITLEAKS}, Sourcegraph`, {
    form: /^(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}$/,
  }),
  kind('Typeform token', 'tfp_', `${URL_SAFE}.=`, 59, `${GITLEAKS}, Typeform`),
  kind('HF org token', 'api_org_', 'A-Za-z', 34, `${GITLEAKS}, Hugging Face`),
  kind('New Relic key', 'NRJS-', HEX, 19, `${GITLEAKS}, New Relic`),
  kind('New Relic key', 'NRII-', 'A-Za-z0-9-', 32, `${GITLEAKS}, New Relic`),
  kind(
    'Tailscale key',
    'tskey-api- tskey-auth- tskey-client- tskey-scim- tskey-webhook-',
    `${BASE62}-`,
    [24, 80],
    'tailscale.com/docs: Key prefixes',
    { form: /^[A-Za-z0-9]{8,}-[A-Za-z0-9]{12,}$/ },
  ),
  kind('Duffel token', 'duffel_test_ duffel_live_', `${URL_SAFE}=`, 43, `${GITLEAKS}, Duffel`),
  kind('Flutterwave key', 'FLWSECK_TEST-', `${BASE62}-`, 34, `${GITLEAKS}, Flutterwave`, {
    form: /^[A-Ha-h0-9]{32}-X$/,
  }),
  kind('Frame.io token', 'fio-u-', `${URL_SAFE}=`, 64, `${GITLEAKS}, Frame.io`),
  kind('Infracost key', 'ico-', BASE62, 32, `${GITLEAKS}, Infracost`),
  kind('Scalingo token', 'tk-us-', URL_SAFE, 48, `${GITLEAKS}, Scalingo`),
  kind('SettleMint', 'sm_aat_ sm_pat_ sm_sat_', BASE62, 16, `${GITLEAKS}, SettleMint`),
  kind('1Password key', 'A3-', 'A-Z0-9-', [36, 37], `${GITLEAKS}, 1Password`, {
    form: /^[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}$/,
  }),
  kind('Octopus key', 'API-', 'A-Z0-9', 26, `${GITLEAKS}, Octopus Deploy`, { form: /\d/ }),
  kind(
    'HubSpot token',
    'pat-na1- pat-eu1-',
    `${BASE62}-`,
    36,
    'github.com/trufflesecurity/trufflehog: hubspot_apikey',
    { form: /^[A-Za-z0-9]{8}-(?:[A-Za-z0-9]{4}-){3}[A-Za-z0-9]{12}$/ },
  ),
  kind('Twilio key', 'SK', ANY_HEX, 32, `${GITLEAKS}, Twilio`),
  kind('Mapbox token', 'sk.eyJ', `${URL_SAFE}.`, [63, 200], 'docs.mapbox.com: Access tokens', {
    form: /^[\w-]{40,}\.[\w-]{22}$/,
  }),
  kind(
    'Terraform token',
    'atlasv1.',
    `${URL_SAFE}=`,
    [60, 70],
    `${GITLEAKS}, HashiCorp: what stands before names the token`,
  ),
  kind('Yandex key', 'AQVN', URL_SAFE, [35, 38], `${GITLEAKS}, Yandex`),
  kind('JWT', 'eyJ', `${URL_SAFE}.`, [40, 16_000], 'RFC 7519', { fits: isJwt }),
];

function kind(
  name: string,
  prefixes: string,
  chars: string,
  length: number | readonly [number, number],
  source: string,
  more: Pick<TokenKind, 'form' | 'fits' | 'isNoToken'> = {},
): TokenKind {
  const bounds = typeof length === 'number' ? ([length, length] as const) : length;
  return { kind: name, prefixes: prefixes.split(' '), chars, length: bounds, source, ...more };
}

/**
 * Whether the last six characters are not the CRC-32 of those before, in base 62 with leading zeros. Only of the length
 * for which GitHub and npm document it: longer tokens, and those with other characters, have forms of their own.
 */
function hasWrongChecksum(body: string): boolean {
  if (!/^[A-Za-z0-9]{36}$/.test(body)) return false;
  let rest = crc32(body.slice(0, -6));
  for (const char of body.slice(-6).split('').reverse()) {
    if (char !== DIGITS[rest % DIGITS.length]) return true;
    rest = Math.floor(rest / DIGITS.length);
  }
  return rest !== 0;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The text after `eyJ` of a signed or encrypted token, whose header is an object of JSON with an algorithm. */
function isJwt(body: string): boolean {
  const parts = `eyJ${body}`.split('.');
  if ((parts.length !== 3 && parts.length !== 5) || parts.at(-1) === '') return false;
  const [header = '', payload = ''] = parts;
  const isHeader = /"alg"\s*:\s*"(?!none")/i.test(Buffer.from(header, 'base64url').toString());
  return isHeader && (parts.length === 5 || /^eyJ|^ew/.test(payload));
}
