// jest has no timeout per project. A test without a broker takes a second at most; a minute is for a machine whose disk or processors are taken.
import { jest } from '@jest/globals';

jest.setTimeout(60_000);
