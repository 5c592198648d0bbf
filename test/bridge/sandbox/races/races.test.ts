import { describeRaces } from './describe-races.ts';

describeRaces(200, { isHeld: false });
