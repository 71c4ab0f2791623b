/** The process of the upgrade tests: one instance of the job, in one of its releases. */
import { StreamsApp } from 'millrace';
import { runJob, toTest } from '../exactly-once/job-line.js';
import type { JobSetup } from '../exactly-once/job-messages.js';
import { releasedTopology, type JobRelease } from '../exactly-once/job-releases.js';
import { numbers } from '../exactly-once/job-topology.js';

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as JobSetup & { readonly release: JobRelease };
/** A merged stream has no serdes of its own. */
const defaults = { defaultKeySerde: numbers.keySerde, defaultValueSerde: numbers.valueSerde };
runJob(new StreamsApp(releasedTopology(setup.topics, setup.release), { ...setup.config, ...defaults, logger: toTest() }));
