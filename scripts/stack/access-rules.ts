import type { Admin } from 'kafkajs';
import kafkajs from 'kafkajs';
import { stackCredentials } from './credentials.js';

// Names that Node cannot see among the exports of this CommonJS package.
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** Gives the ordinary user every right on topics, groups and transactional ids, and none on the cluster. */
export async function allowOrdinaryUser(admin: Admin): Promise<void> {
  const resources = [AclResourceTypes.TOPIC, AclResourceTypes.GROUP, AclResourceTypes.TRANSACTIONAL_ID];
  await admin.createAcls({
    acl: resources.map((resourceType) => ({
      resourceType,
      resourceName: '*',
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${stackCredentials.user.username}`,
      host: '*',
      operation: AclOperationTypes.ALL,
      permissionType: AclPermissionTypes.ALLOW,
    })),
  });
}
