/** Enrols devices that show that they have an open secret of this machine. */
import { type EnrolmentEnd, enrolBySecret } from '../../machine/enrolments.ts';
import { Lanes } from '../../machine/lanes.ts';
import { logEvent, logTrouble } from '../../machine/log.ts';
import type { EnrolmentOutcome, EnrolmentRequest } from '../../shared/wire/enrolment.ts';
import type { Audit } from '../grantees/audit.ts';

interface EnrollingConfig {
  readonly bridgeId: string;
  /** Holds the machine's list of devices and its open secrets. */
  readonly machineDir: string;
  readonly audit: Pick<Audit, 'note'>;
}

export class Enrolling {
  readonly #config: EnrollingConfig;
  readonly #lanes = new Lanes();

  constructor(config: EnrollingConfig) {
    this.#config = config;
  }

  /** One request at a time: a second one of the same device sees that the first has enrolled it. Does not reject. */
  async enrol(request: EnrolmentRequest): Promise<EnrolmentOutcome> {
    return await this.#lanes.run(['enrolments'], async () => {
      const { bridgeId, machineDir } = this.#config;
      try {
        return this.#note(request, await enrolBySecret(machineDir, bridgeId, request, new Date()));
      } catch (error) {
        logTrouble({ event: 'enrolment_failed' }, 'A device could not be enrolled', error);
        return 'failed';
      }
    });
  }

  #note({ device: { deviceId, label } }: EnrolmentRequest, end: EnrolmentEnd): EnrolmentOutcome {
    if (end.state === 'ended') return 'ended';
    if (end.state === 'enrolled') {
      const { maker } = end;
      this.#config.audit.note({ type: 'enrolment', device: deviceId, label, by: maker });
      const message = `${label} (${deviceId}) may approve from now on, by a secret of drawbridge ${maker}`;
      logEvent({ event: 'device_enrolled', message });
    }
    return 'enrolled';
  }
}
