import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { serdes, StreamsApp, StreamsBuilder } from '../../src/index.js';

const at = (name: string): URL => new URL(`modules/${name}.ts`, import.meta.url);
const config = { applicationId: 'app', bootstrapServers: 'localhost:9092' };

describe('an app from a topology module', () => {
  it('has the module’s topology and options, with the caller’s', async () => {
    const app = await StreamsApp.fromModule(at('built'), config);
    expect(app.state).toBe('created');
    expect(app.stores()).toEqual([]);
  });

  it('may have its topology built for it', async () => {
    const app = await StreamsApp.fromModule(fileURLToPath(at('building')), config);
    expect(() => app.explainWatermark('nobody')).toThrow('app-null');
  });

  it('needs a module that is one', async () => {
    const refused = (module: unknown, options: object = {}): Promise<string> =>
      StreamsApp.fromModule(module as URL, { ...config, ...options }).then(
        () => 'taken',
        (error: unknown) => String(error),
      );
    expect(await refused('./topology.js')).toContain("new URL('./topology.js', import.meta.url)");
    expect(await refused(undefined)).toContain('not by undefined');
    expect(await refused(at('not-there'))).toContain('can’t be imported');
    expect(await refused(at('nothing'))).toContain('its default export must be a topology');
    expect(await refused(at('builder'))).toContain('call build()');
    expect(await refused(at('built'), { defaultKeySerde: serdes.string })).toContain('both give defaultKeySerde');
    expect(await refused(at('built'), { thraeds: 2 })).toContain('did you mean threads?');
    await expect(StreamsApp.fromModule(at('built'), undefined as never)).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
  });

  it('names every option that can’t be sent to threads', async () => {
    const app = StreamsApp.fromModule(at('building'), {
      ...config,
      threads: 2,
      processingHandler: () => 'fail',
      defaultValueSerde: serdes.json(),
    });
    await expect(app).rejects.toMatchObject({
      code: 'MILL_CONFIG_INVALID',
      details: { faults: [expect.stringContaining('processingHandler'), expect.stringContaining('defaultValueSerde')] },
    });
  });
});

describe('several threads', () => {
  it('need the topology as a module', () => {
    const builder = new StreamsBuilder();
    builder.stream('in', { keySerde: serdes.string, valueSerde: serdes.string }).to('out');
    expect(() => new StreamsApp(builder.build(), { ...config, threads: 2 })).toThrow('StreamsApp.fromModule');
  });

  it('can’t be added to an app of one, nor taken from one that does not run', async () => {
    const one = await StreamsApp.fromModule(at('built'), config);
    await expect(one.addThread()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    const two = await StreamsApp.fromModule(at('built'), { ...config, threads: 2 });
    await expect(two.removeThread()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    await expect(two.removeThread({ timeuot: 1 } as never)).rejects.toThrow('did you mean timeout?');
    await two.close();
    await expect(two.addThread()).rejects.toThrow('this one is notRunning');
  });
});

describe('an app of one thread', () => {
  it('imports nothing that is for several: no module that it loads at once imports worker_threads', async () => {
    const seen = new Set<string>();
    for (let next = [new URL('../../src/index.ts', import.meta.url).href]; next.length > 0;) {
      for (const file of next) seen.add(file);
      const sources = await Promise.all(next.map(async (file) => ({ file, source: await readFile(new URL(file), 'utf8') })));
      const imported = sources.flatMap(({ file, source }) =>
        [...source.matchAll(/^(?:import|export)( type)? [^;]*?from '([^']+)';/gms)]
          .filter(([, isType]) => isType === undefined)
          .map(([, , name]) => ({ file, name: name! })),
      );
      expect(imported.filter(({ name }) => /^(node:)?worker_threads$/.test(name))).toEqual([]);
      const files = imported
        .filter(({ name }) => name.startsWith('.'))
        .map(({ file, name }) => new URL(name.replace(/\.js$/, '.ts'), file).href);
      next = [...new Set(files)].filter((file) => !seen.has(file));
    }
    expect(seen.size).toBeGreaterThan(200);
    expect([...seen].filter((file) => file.includes('/app/threads/'))).toEqual([]);
  });
});
