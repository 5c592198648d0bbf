import { deep } from '../../../../../test/depth.ts';
import { describeRaces } from './describe-races.ts';

describeRaces(deep(300), { isHeld: false });
describeRaces(deep(40), { isHeld: true });
