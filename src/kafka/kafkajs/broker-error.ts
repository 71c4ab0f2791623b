/** Turns an error code into the exception of the methods that throw instead of returning codes. */
import { MillraceError } from '../../errors.js';
import { errorName, isAuthorizationError } from '../error-codes.js';

/** `what` is the action ("describing the configuration of"), `resource` names kind and thing ("topic orders"). */
export function brokerError(errorCode: number, what: string, resource: string, brokerMessage: string | null = null): MillraceError {
  const said = brokerMessage === null ? '' : `: ${brokerMessage}`;
  const details = { brokerErrorCode: errorCode, resource };
  if (isAuthorizationError(errorCode)) {
    return new MillraceError('MILL_AUTHORIZATION', `Not allowed: ${what} ${resource} (${errorName(errorCode)})${said}.`, { details });
  }
  return new MillraceError('MILL_BROKER_ERROR', `${what} ${resource} failed with ${errorName(errorCode)} (${errorCode})${said}.`, {
    details,
  });
}
