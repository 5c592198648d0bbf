import { describeRaces } from './describe-races.ts';

// That they run and would notice; `test:deep` makes two thousand of each.
describeRaces(4, { isHeld: false });
