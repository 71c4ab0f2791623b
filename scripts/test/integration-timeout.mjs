// jest has no timeout per project. Two minutes are for a test that starts a cluster and waits for a session to expire.
import { jest } from '@jest/globals';

jest.setTimeout(120_000);
