/** A CPU profile as a picture: who called whom from top to bottom, as wide as the time it took, in the colour of its stage. */
import { basename, extname } from 'node:path';
import type { Frame } from './cpu-profile.js';
import { stageOf } from './stages.js';

const width = 1200;
const rowHeight = 17;
const fontSize = 11;
/** Of the font's characters, about. */
const characterWidth = 6.3;
const legendTop = 24;
const legendRow = 16;
/** Narrower ones are left out, with what they call. */
const leastWidth = 0.7;

const colours = [
  '#f4a582',
  '#92c5de',
  '#a6d96a',
  '#fee08b',
  '#c2a5cf',
  '#80cdc1',
  '#d9d9d9',
  '#f1b6da',
  '#bdbdff',
  '#e6c79c',
  '#b8e186',
  '#fdb863',
];

interface Node {
  readonly frame: Frame;
  readonly stage: string;
  ms: number;
  readonly callees: Map<string, Node>;
}

export class FlameGraph {
  private readonly roots = new Map<string, Node>();
  private total = 0;

  /** @param stack the running function first */
  add(stack: readonly Frame[], ms: number): void {
    this.total += ms;
    let level = this.roots;
    for (let i = stack.length - 1; i >= 0; i--) {
      const frame = stack[i] as Frame;
      if (frame.name === '(root)') continue;
      const key = `${frame.name} ${frame.url}:${frame.line}`;
      let node = level.get(key);
      if (node === undefined) {
        node = { frame, stage: stageOf(stack.slice(i)), ms: 0, callees: new Map() };
        level.set(key, node);
      }
      node.ms += ms;
      level = node.callees;
    }
  }

  /** SVG text. Browsers show a function's place and share when the mouse is over it. */
  draw(title: string): string {
    const boxes: string[] = [];
    const colourOf = new Map<string, string>();
    const depth = this.drawLevel(this.roots, 0, 0, colourOf, boxes);
    const legend = drawLegend(colourOf);
    const top = legendTop + legend.rows * legendRow + 6;
    const height = top + depth * rowHeight + 4;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="${fontSize}">`,
      `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
      `<text x="4" y="16" font-size="14" font-weight="bold">${escaped(title)}</text>`,
      legend.text,
      `<g transform="translate(0 ${top})">`,
      ...boxes,
      '</g>',
      '</svg>',
      '',
    ].join('\n');
  }

  /** Gives the number of rows that were drawn from `row` on. */
  private drawLevel(level: ReadonlyMap<string, Node>, row: number, left: number, colourOf: Map<string, string>, boxes: string[]): number {
    let depth = 0;
    let x = left;
    for (const node of [...level.values()].sort((a, b) => b.ms - a.ms)) {
      const boxWidth = (node.ms / this.total) * width;
      if (boxWidth < leastWidth) continue;
      const colour = colourOf.get(node.stage) ?? colours[colourOf.size % colours.length] ?? '#ffffff';
      colourOf.set(node.stage, colour);
      boxes.push(box(node, x, row * rowHeight, boxWidth, colour, this.total));
      depth = Math.max(depth, 1 + this.drawLevel(node.callees, row + 1, x, colourOf, boxes));
      x += boxWidth;
    }
    return depth;
  }
}

function box({ frame, stage, ms }: Node, x: number, y: number, boxWidth: number, colour: string, total: number): string {
  const place = frame.url === '' ? '' : ` (${basename(frame.url)}:${frame.line})`;
  const tip = `${frame.name}${place}: ${((100 * ms) / total).toFixed(1)} %, ${stage}`;
  const room = Math.floor((boxWidth - 6) / characterWidth);
  const name = frame.url === '' ? frame.name : `${basename(frame.url, extname(frame.url))}.${frame.name}`;
  const label = name.length <= room ? name : room > 3 ? `${name.slice(0, room - 1)}…` : '';
  const text = label === '' ? '' : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label)}</text>`;
  return `<g><title>${escaped(tip)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${boxWidth.toFixed(1)}" height="${rowHeight - 1}" fill="${colour}" stroke="#ffffff" stroke-width="0.5"/>${text}</g>`;
}

function drawLegend(colourOf: ReadonlyMap<string, string>): { readonly text: string; readonly rows: number } {
  let x = 4;
  let rows = 1;
  const parts = [...colourOf].map(([stage, colour]) => {
    const partWidth = 26 + stage.length * characterWidth;
    if (x + partWidth > width) {
      x = 4;
      rows++;
    }
    const y = legendTop + (rows - 1) * legendRow;
    const part = `<rect x="${x.toFixed(1)}" y="${y}" width="10" height="10" fill="${colour}"/><text x="${(x + 14).toFixed(1)}" y="${y + 9}">${escaped(stage)}</text>`;
    x += partWidth;
    return part;
  });
  return { text: parts.join(''), rows };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
