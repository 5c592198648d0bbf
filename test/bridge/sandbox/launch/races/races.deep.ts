import { describeRaces } from './describe-races.ts';

describeRaces(2_000, { isHeld: false });
describeRaces(100, { isHeld: true });
