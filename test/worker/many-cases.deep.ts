/** These files with all of their cases. */
import './conversation/fork.test.ts';
import './conversation/run/calls.test.ts';
import './conversation/sizes.test.ts';
import './depth.test.ts';
import './images/detours.test.ts';
import '../../doors/test/openai/client-tools.test.ts';
import '../../doors/test/openai/past.test.ts';
import './people/account-export.test.ts';
