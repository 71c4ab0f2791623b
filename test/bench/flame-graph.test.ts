import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../bench/profile/cpu-profile.js';
import { FlameGraph } from '../../bench/profile/flame-graph.js';

const frame = (name: string, url = ''): Frame => ({ name, url, line: 7 });
const root = frame('(root)');
const loop = frame('run', 'file:///x/src/runtime/task.js');
const decode = frame('decode<T>', 'file:///x/src/kafka/record-batch/record-cursor.js');

describe('a flame graph', () => {
  const graph = new FlameGraph();
  graph.add([loop, root], 10);
  graph.add([decode, loop, root], 30);
  graph.add([frame('(garbage collector)'), root], 60);
  const boxes = graph
    .draw('map & count')
    .split('\n')
    .filter((line) => line.startsWith('<g><title>'));

  it('has a box for each function below the one that called it, as wide as its time and that of what it called', () => {
    const placed = boxes.map((box) => / x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/.exec(box)?.slice(1).map(Number));
    expect(placed).toEqual([
      [0, 0, 720],
      [720, 0, 480],
      [720, 17, 360],
    ]);
  });

  it('tells place, share and stage of each', () => {
    expect(boxes.map((box) => /<title>(.*)<\/title>/.exec(box)?.[1])).toEqual([
      '(garbage collector): 60.0 %, garbage collection',
      'run (task.js:7): 40.0 %, the loop',
      'decode&lt;T&gt; (record-cursor.js:7): 30.0 %, reading record batches',
    ]);
  });
});
