import { mkdir, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import { keepFoldersInMemory } from '../../../../test/in-memory.ts';
import { CODEBASE_LIMITS } from '../../search/codebase/limits.ts';
import { searchCodebase } from '../../search/codebase-search.ts';

keepFoldersInMemory();

const PROJECT = {
  '.gitignore': 'ignored/\n',
  'README.md':
    '# Shop\n\nA small shop. Users log in, fill a cart and pay.\n\n## Deploy\n\nRun make.\n',
  'package-lock.json': `{"packages": {"session-cookie": {}, "signature": {}, "retry": {}}}\n`,
  'src/main.py': `"""Entry point of the shop."""
from flask import Flask

from .orders import orders

app = Flask(__name__)
app.register_blueprint(orders)


if __name__ == "__main__":
    app.run()
`,
  'src/orders.py': `from flask import Blueprint

orders = Blueprint("orders", __name__)


@orders.post("/orders")
def place_order():
    """Charges the card, then stores the order."""
    cart = load_cart()
    return charge(cart.total_price(), cart.card)
`,
  'src/cart.py': `class Cart:
    def total_price(self):
        """Adds up the items, discounts taken away."""
        return sum(item.price * item.count for item in self.items) - self.discount
`,
  'web/session.ts': `/** Cookies that hold who is logged in. */

export function signSessionCookie(session: Session, secret: string): string {
  return seal(JSON.stringify(session), hmac(secret));
}

export function isExpired(session: Session, nowMs: number): boolean {
  return session.expiresMs <= nowMs;
}
`,
  'web/fetch-with-retry.ts': `const FIRST_DELAY_MS = 100;

/** Asks again when the server is busy, each time after a longer wait. */
export async function fetchWithRetry(url: string, attempts = 5): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url);
    if (response.ok || attempt === attempts) return response;
    await sleep(backOff(attempt));
  }
}

function backOff(attempt: number): number {
  return FIRST_DELAY_MS * 2 ** attempt;
}
`,
  'web/fetch-with-retry.test.ts': `it('retries with back-off', () => {
  // retry, retries, back-off, delay, retry, retry, retry, back-off, back-off
  expect(fetchWithRetry).toBeDefined();
});
`,
  'go/ratelimit/bucket.go': `package ratelimit

// Allow takes a token out of the bucket, and says whether there was one.
func (b *Bucket) Allow(now time.Time) bool {
	b.refill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
`,
  'rust/src/parser.rs': `/// Parses one header line of an HTTP request.
pub fn parse_header(line: &str) -> Result<Header, ParseError> {
    let (name, value) = line.split_once(':').ok_or(ParseError::NoColon)?;
    Ok(Header { name: name.trim(), value: value.trim() })
}
`,
  'java/src/UserRepository.java': `package shop;

public class UserRepository {
  public Optional<User> findByEmail(String email) {
    return query("select * from users where email = ?", email);
  }
}
`,
  'db/schema.sql': `CREATE TABLE users (
  id integer primary key,
  email text not null unique
);

CREATE TABLE orders (
  id integer primary key,
  user_id integer references users (id)
);
`,
  '.github/workflows/ci.yml': 'name: CI\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n',
  'ignored/copy.py': 'app = Flask(__name__)  # flask app initialized\n',
  '.env': 'FLASK_APP=secret flask app initialized\n',
};

describe('searchCodebase', () => {
  it.each([
    ['Where is the Flask app initialized?', 'src/main.py'],
    ['How is the total price of a cart computed?', 'src/cart.py'],
    ['Where are session cookies signed?', 'web/session.ts'],
    ['How do we retry with back-off?', 'web/fetch-with-retry.ts'],
    ['Where are the tests for retries?', 'web/fetch-with-retry.test.ts'],
    ['How does the rate limiter refill its token bucket?', 'go/ratelimit/bucket.go'],
    ['Where do we parse HTTP headers?', 'rust/src/parser.rs'],
    ['How are users found by their email?', 'java/src/UserRepository.java'],
    ['What is the schema of the orders table?', 'db/schema.sql'],
    ['Which route places an order and charges the card?', 'src/orders.py'],
    ['Where is CI configured?', '.github/workflows/ci.yml'],
    ['Wo wird die Session signiert, mit welchem Secret?', 'web/session.ts'],
    ['How is this deployed, says the readme?', 'README.md'],
  ])('%s', async (question, best) => {
    const { files } = await ask(await temporaryWorkspace(PROJECT), question);
    expect(files[0]).toBe(best);
  });

  it('shows nothing that is ignored, secret, closed or reached by a link', async () => {
    const project = await temporaryWorkspace({ ...PROJECT, 'keys/flask.pem': 'flask app' });
    await mkdir(project.path('elsewhere'));
    await symlink('../ignored/copy.py', project.path('elsewhere/flask_app.py'));
    const { files } = await ask(project, 'Where is the Flask app initialized?');
    expect(files).toContain('src/main.py');
    expect(files.filter((file) => /ignored|env|pem|elsewhere/.test(file))).toEqual([]);
  });

  it('finds a file that only its path speaks of', async () => {
    const project = await temporaryWorkspace({
      'src/throttle.c': 'int x;\n',
      'src/throttle.h': '\n\n',
      'b.c': 'int y;\n',
    });
    expect((await ask(project, 'Where is throttling done?')).files).toEqual(['src/throttle.c']);
  });

  it('searches one file by its chunks', async () => {
    const filler = (name: string) => `function ${name}() {\n${'  work();\n'.repeat(20)}}\n\n`;
    const source = `${filler('one')}${filler('two')}function needle() {\n  sew();\n}\n`;
    const project = await temporaryWorkspace({ 'a.ts': source });
    const { passages } = await ask(project, 'Where is the needle?', 'a.ts');
    expect(passages.map(({ start, lines }) => [start, lines.length])).toEqual([[46, 3]]);
  });

  it('passes over what is not text, and over what is too large to have been written', async () => {
    const project = await temporaryWorkspace({
      'needle.bin': Buffer.from('needle\0needle'),
      'needle.log': `${'needle\n'.repeat(CODEBASE_LIMITS.maxFileBytes / 4)}`,
      'a.ts': 'needle\n',
    });
    expect((await ask(project, 'needle')).files).toEqual(['a.ts']);
    await expect(ask(project, 'needle', 'needle.log')).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
    });
    expect((await ask(project, 'needle', 'needle.bin')).files).toEqual([]);
  });

  it('gives the same answer every time', async () => {
    const same = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`f${index}.ts`, 'const needle = 1;\n']),
    );
    const project = await temporaryWorkspace(same);
    const first = await ask(project, 'needle');
    expect(first.files).toHaveLength(CODEBASE_LIMITS.maxChunks);
    expect((await ask(project, 'needle')).files).toEqual(first.files);
  });

  it('finds every hump of a name that ripgrep alone would have to guess', async () => {
    const project = await temporaryWorkspace({
      'a.ts': 'getSurrogatePair();\n',
      'b.ts': 'MAX_SURROGATES\n',
      'c.ts': 'unsurrogate appended mapping\n',
      'd.ts': 'der Überlauf\n',
    });
    expect((await ask(project, 'surrogate')).files.toSorted()).toEqual(['a.ts', 'b.ts']);
    expect((await ask(project, 'app map')).files).toEqual(['c.ts']);
    expect((await ask(project, 'überlauf')).files).toEqual(['d.ts']);
  });

  it('ends with the signal', async () => {
    const project = await temporaryWorkspace(PROJECT);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(ask(project, 'flask', '.', signal)).rejects.toThrow('enough');
  });
});

async function ask(
  { context }: TemporaryWorkspace,
  question: string,
  where = '.',
  signal: AbortSignal = context.signal,
) {
  const { workspace } = context;
  const place = await workspace.resolve(where, 'read');
  const answer = await searchCodebase({ question, place, workspace, isPrivate: false, signal });
  return { ...answer, files: [...new Set(answer.passages.map(({ name }) => name))] };
}
