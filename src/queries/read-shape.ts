import { list, milliseconds, oneOf } from '../errors/checked-options.js';

/** What views and queries by partition have in common. */
export const readShape = {
  isolation: oneOf('committed', 'uncommitted'),
  standbys: oneOf('avoid', 'use'),
  timeout: milliseconds,
  partitions: list,
};
