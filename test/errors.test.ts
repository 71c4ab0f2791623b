import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext, SourceTextModule, type Module } from 'node:vm';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';
import { errorTable, KafkaTransportError, MillraceError, type ErrorCode } from '../src/errors.js';

const codes = Object.keys(errorTable) as ErrorCode[];
const root = fileURLToPath(new URL('..', import.meta.url));

function sources(): string {
  const files = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file !== 'errors.ts',
  );
  return files.map((file) => readFileSync(`${root}/src/${file}`, 'utf8')).join('\n');
}

describe('the table of errors', () => {
  const code = sources();
  it.each(codes.filter((name) => name !== 'MILL_TRANSPORT'))('%s is used somewhere in the sources', (name) => {
    expect(code).toContain(`'${name}'`);
  });

  it('has no code that the docs do not list, and the docs none that it has not', () => {
    const page = readFileSync(`${root}/docs/Reference/errors.md`, 'utf8');
    const listed = new Set(page.match(/MILL_[A-Z_]+/g));
    expect([...listed].sort()).toEqual([...codes].sort());
  });

  it.each(codes)('%s has a cure that is a sentence', (name) => {
    expect(errorTable[name]).toMatch(/^[A-Z].+\.$/);
  });
});

describe('a MillraceError', () => {
  it('says what happened, its code and what to do', () => {
    const cause = new Error('below');
    const error = new MillraceError('MILL_TOPIC_MISSING', 'orders does not exist', { cause, details: { topic: 'orders' } });
    expect(error.message).toBe(`orders does not exist [MILL_TOPIC_MISSING] ${errorTable.MILL_TOPIC_MISSING}`);
    expect(error).toMatchObject({
      name: 'MillraceError',
      code: 'MILL_TOPIC_MISSING',
      cure: errorTable.MILL_TOPIC_MISSING,
      details: { topic: 'orders' },
      cause,
    });
  });

  it('without a cause has none', () => {
    expect('cause' in new MillraceError('MILL_STATE_INVALID', 'x')).toBe(false);
    expect(new MillraceError('MILL_STATE_INVALID', 'x').details).toEqual({});
  });

  it('tells its kinds apart', () => {
    const transport = new KafkaTransportError('gone');
    expect([transport instanceof MillraceError, transport instanceof KafkaTransportError, transport.code, transport.name]).toEqual([
      true,
      true,
      'MILL_TRANSPORT',
      'KafkaTransportError',
    ]);
    expect(new MillraceError('MILL_TRANSPORT', 'gone') instanceof KafkaTransportError).toBe(false);
    for (const other of [new Error('x'), {}, null, undefined, 'MILL_TRANSPORT']) expect(other instanceof MillraceError).toBe(false);
  });
});

describe('instanceof', () => {
  it('works across realms: an error of another copy of the module, in another context, is one of ours', async () => {
    const context = createContext({});
    const { code } = transformSync(readFileSync(`${root}/src/errors.ts`, 'utf8'), {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'es6' },
    });
    const module = new SourceTextModule(code, { context });
    await module.link((specifier): Module => {
      throw new Error(`errors.ts imports ${specifier}`);
    });
    await module.evaluate();
    const theirs = module.namespace as { MillraceError: typeof MillraceError; KafkaTransportError: typeof KafkaTransportError };
    const foreign = new theirs.KafkaTransportError('gone');
    expect(foreign instanceof Error).toBe(false);
    expect([foreign instanceof MillraceError, foreign instanceof KafkaTransportError]).toEqual([true, true]);
    expect(new KafkaTransportError('gone') instanceof theirs.MillraceError).toBe(true);
    expect((runInContext('new Error("x")', context) as unknown) instanceof MillraceError).toBe(false);
  });
});
