/** These files with all of their cases. */
import './conversation/fork.test.ts';
import './conversation/run/calls.test.ts';
import './conversation/sizes.test.ts';
import './depth.test.ts';
import './images/detours.test.ts';
import '../../doors/test/openai/client-tools.test.ts';
import '../../doors/test/openai/past.test.ts';
import './people/account-export.test.ts';
import './reply/arguments.test.ts';
import './reply/documents.test.ts';
import './reply/fences.test.ts';
import '../../doors/test/words/markdown.test.ts';
