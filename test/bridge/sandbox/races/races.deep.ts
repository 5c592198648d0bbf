import { describeRaces } from './describe-races.ts';

// As root and as another user: 2,000 attempts each way.
describeRaces(1_000, { isHeld: false });
describeRaces(200, { isHeld: true });
