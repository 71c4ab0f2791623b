import { describe, expect, it } from '@jest/globals';
import { passThroughOperator } from '../../src/processors/pass-through.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import type { TopicRef } from '../../src/topology/nodes.js';
import { TaskLayout } from '../../src/topology/task-layout.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';

const counts: Readonly<Record<string, number>> = { timed: 2, untimed: 4, other: 3, 'r-repartition': 5, 's-repartition': 5 };

function layout(carriesWatermarks: boolean): TaskLayout {
  const topology = new TopologyBuilder()
    .addSource('timed', { topics: ['timed'], watermarks: watermarks.monotonous() })
    .addSource('untimed', { topics: ['untimed'] })
    .addOperator('both', passThroughOperator(), ['timed', 'untimed'])
    .addRepartitionTopic('r-repartition', 5, { carriesWatermarks })
    .addSink('to-r', 'r-repartition', ['both'])
    .addSource('other', { topics: ['other'] })
    .addSink('other-to-r', 'r-repartition', ['other'])
    .addSource('from-r', { topics: ['r-repartition'] })
    .addRepartitionTopic('s-repartition', 5, { carriesWatermarks })
    .addSink('to-s', 's-repartition', ['from-r'])
    .addSource('from-s', { topics: ['s-repartition'] })
    .build();
  return new TaskLayout(topology, 'app', ({ name }: TopicRef) => counts[name] ?? null);
}

const shown = (of: TaskLayout, topic: string) => of.watermarkSenders(topic).map((task) => `${task.subTopology}_${task.partition}`);

describe('who sends watermarks through a repartition topic', () => {
  it('are the tasks that have event time themselves: nobody waits for the others', () => {
    expect(shown(layout(true), 'app-r-repartition')).toEqual(['0_0', '0_1']);
  });

  it('are behind another one all tasks that hear of it', () => {
    const tasks = layout(true);
    expect(shown(tasks, 'app-s-repartition')).toEqual([0, 1, 2, 3, 4].map((partition) => `2_${partition}`));
    expect(tasks.watermarkTargets(2)).toEqual([{ topic: 'app-s-repartition', partitions: 5 }]);
    expect(tasks.watermarkTargets(1)).toEqual([]);
  });

  it('is nobody where it carries none', () => {
    expect(shown(layout(false), 'app-r-repartition')).toEqual([]);
    expect(shown(layout(true), 'timed')).toEqual([]);
  });
});
