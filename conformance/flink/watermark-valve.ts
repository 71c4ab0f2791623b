/** Cases `{ inputs, steps: [{ in: [kind, input, watermark?], out }] }`: the inputs of an operator combined. `outFixed` goes before `out`. */
import { WatermarkCombiner } from '../../src/time/watermarks/watermark-combiner.js';
import { list, number, text, type CaseEntry, type ConformanceCase, type JsonObject } from '../case.js';
import { differs } from './shown.js';
import { WatermarkRecorder } from './watermark-recorder.js';

export function watermarkValveCase({ value }: CaseEntry): ConformanceCase | null {
  if (typeof value.inputs !== 'number' || !('steps' in value)) return null;
  return {
    name: text(value, 'name'),
    run: async () => {
      const output = new WatermarkRecorder(true);
      const combiner = new WatermarkCombiner(output, 'ignore');
      for (let input = 0; input < number(value, 'inputs'); input++) combiner.add(input);
      return (list(value, 'steps') as readonly JsonObject[]).flatMap((step, at) => {
        const [kind, input, watermark] = list(step, 'in') as [string, number, number];
        if (kind === 'watermark') combiner.advance(input, watermark);
        else if (kind === 'idle') combiner.idle(input);
        else combiner.active(input);
        return differs(`step ${at}`, step.outFixed ?? step.out, output.take());
      });
    },
  };
}
