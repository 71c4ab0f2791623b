import { MultiBar, Presets } from 'cli-progress';

/** What the stack reports while it installs and starts: a step begun, or how far a download got (bytes or files). */
export type StackProgress =
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'download'; readonly name: string; readonly done: number; readonly total: number; readonly unit: 'MB' | 'files' };

export type OnProgress = (progress: StackProgress) => void;

/** Prints progress: bars on a terminal, a line at each start and end elsewhere. */
export function printProgress(stream: NodeJS.WriteStream = process.stderr): OnProgress {
  return stream.isTTY ? drawBars(stream) : printLines(stream);
}

function drawBars(stream: NodeJS.WriteStream): OnProgress {
  let bars: MultiBar | undefined;
  const open = new Map<string, ReturnType<MultiBar['create']>>();
  return (progress) => {
    if (progress.kind === 'step') {
      stream.write(`${progress.text}\n`);
      return;
    }
    bars ??= new MultiBar({ stream, hideCursor: true, format: '  {name} [{bar}] {value}/{total} {unit}' }, Presets.shades_classic);
    let bar = open.get(progress.name);
    if (!bar) open.set(progress.name, (bar = bars.create(progress.total, 0, { name: progress.name, unit: progress.unit })));
    bar.update(progress.done);
    if (progress.done < progress.total) return;
    open.delete(progress.name);
    if (open.size > 0) return;
    bars.stop();
    bars = undefined;
  };
}

function printLines(stream: NodeJS.WriteStream): OnProgress {
  const shown = new Map<string, number>();
  return (progress) => {
    if (progress.kind === 'step') {
      stream.write(`${progress.text}\n`);
      return;
    }
    const quarter = Math.floor((4 * progress.done) / progress.total);
    if (quarter === shown.get(progress.name)) return;
    shown.set(progress.name, quarter);
    stream.write(`  ${progress.name}: ${progress.done}/${progress.total} ${progress.unit}\n`);
  };
}
