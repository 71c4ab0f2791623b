/** SASL/PLAIN users of a stack with access control. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface StackCredentials {
  /** May do everything. */
  readonly superUser: Credentials;
  /** May use every topic, group and transactional id, and has no right on the cluster itself. */
  readonly user: Credentials;
}

export const stackCredentials: StackCredentials = {
  superUser: { username: 'admin', password: 'admin-secret' },
  user: { username: 'app', password: 'app-secret' },
};
